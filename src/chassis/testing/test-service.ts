import { unscoped } from '../context/run-as.ts';
import type { DelegateName, OrmClient, RecordOf, UpdateInput } from '../database/client/orm-types.ts';
import type { Service } from '../service.ts';
import { headersOf, type TestPrincipal } from './act-as-named.ts';
import { makeRecord } from './make-record.ts';
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

  /**
   * The client of its database. Models with a scope need a caller, or none by `unscoped`, within `service.run`; models of
   * tenants without a scope have no rows.
   *
   * @example await app.service.run(() => unscoped('a test looks at all rows', async () => app.orm.order.count()))
   */
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

  /**
   * Stores a record, beyond every scope and rule of the service: what its model requires and `given` leaves out gets a value
   * that no other record has, and the records that it has to refer to are made too.
   *
   * @throws Error where models require records of each other, and what the database raises
   * @example const { id } = await service.make('product', { price: 5 });
   */
  async make<D extends DelegateName>(model: D, given: UpdateInput<D> = {}): Promise<RecordOf<D>> {
    const make = () => unscoped('a test makes a record', () => makeRecord(this.orm, model, given));
    return (await this.service.run(make)) as RecordOf<D>;
  }

  /** How many records a model holds, beyond every scope. */
  async count(model: DelegateName, where: object = {}): Promise<number> {
    const rows = this.orm[model] as { count(query: object): Promise<number> };
    return this.service.run(() => unscoped('a test counts records', () => rows.count({ where })));
  }
}
