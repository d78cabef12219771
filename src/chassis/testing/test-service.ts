import type { DelegateName, OrmClient } from '../database/client/orm-types.ts';
import type { Service } from '../service.ts';
import { headersOf, type TestPrincipal } from './act-as-named.ts';
import { TestClient } from './test-client.ts';

/** A service that runs on a database of its own. */
export interface StartedTestService {
  readonly service: Service;
  readonly url: string;
  readonly internalUrl: string;
  /** The directory of uploaded files. */
  readonly uploads: string;
  /** By which a request may say who calls; see `actAsNamed`. */
  readonly password: string;
}

/** A booted service on a database of its own, called over HTTP as nobody unless `as` says otherwise. */
export class TestService extends TestClient {
  readonly service: Service;
  readonly url: string;
  /** The internal server: probes, metrics, log level. */
  readonly internal: TestClient;
  readonly internalUrl: string;
  /** The directory of uploaded files. */
  readonly uploads: string;
  readonly #password: string;

  /** Use `bootTestService`. */
  constructor({ service, url, internalUrl, uploads, password }: StartedTestService) {
    super(url);
    this.service = service;
    this.url = url;
    this.internal = new TestClient(internalUrl);
    this.internalUrl = internalUrl;
    this.uploads = uploads;
    this.#password = password;
  }

  /** The client of its database, beyond every scope of rows. */
  get orm(): OrmClient {
    return this.service.database.client;
  }

  /**
   * The same service called by somebody: as who has this role, or as this principal. Guards that take the principal of
   * `currentPrincipal()` let the request through; a test of credentials sends a token instead.
   */
  as(caller: string | TestPrincipal): TestClient {
    const principal = typeof caller === 'string' ? { roles: [caller] } : caller;
    return new TestClient(this.url, { headers: headersOf(this.#password, principal) });
  }

  /** The same service called with a bearer token. */
  withToken(token: string): TestClient {
    return new TestClient(this.url, { headers: { authorization: `Bearer ${token}` } });
  }

  /** How many records a model holds. */
  async count(model: DelegateName, where: object = {}): Promise<number> {
    return (this.orm[model] as { count(query: object): Promise<number> }).count({ where });
  }
}
