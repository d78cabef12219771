import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Express } from 'express';
import { appConfig } from '../../src/app.config.ts';
import type { AppConfig } from '../../src/chassis/config/app-config.ts';
import type { DatabaseProvider } from '../../src/chassis/database/client/database-url.ts';
import type { DelegateName, OrmClient } from '../../src/chassis/database/client/orm-types.ts';
import { createService, type Service, type ServiceOptions } from '../../src/chassis/service.ts';
import { actAsNamed, headersOf, type TestPrincipal } from '../../src/chassis/testing/act-as-named.ts';
import { TestClient } from '../../src/chassis/testing/test-client.ts';
import { createTestDatabase } from '../../src/chassis/testing/test-database.ts';
import { whenDone } from '../../src/chassis/testing/when-done.ts';

/** What a test may change of the application that it boots. */
export interface TestAppOptions extends Omit<ServiceOptions, 'env'> {
  /** Variables beside those that every test application gets. */
  env?: Record<string, string>;
  /** Changes the application's configuration. */
  configure?: (config: AppConfig) => AppConfig;
  /** Which database it runs on; by default the one that TEST_PROVIDER names, else SQLite. */
  provider?: DatabaseProvider;
}

/** The real application on a real database, called over HTTP as nobody unless `as` says otherwise. */
export class TestApp extends TestClient {
  readonly service: Service;
  readonly url: string;
  /** The internal server: probes, metrics, log level. */
  readonly internal: TestClient;
  readonly internalUrl: string;
  /** The directory of uploaded files. */
  readonly uploads: string;
  readonly #clients = new Map<string, TestClient>();
  readonly #password = randomUUID();

  constructor(service: Service, urls: { url: string; internalUrl: string }, uploads: string) {
    super(urls.url);
    this.service = service;
    this.url = urls.url;
    this.internalUrl = urls.internalUrl;
    this.internal = new TestClient(urls.internalUrl);
    this.uploads = uploads;
    service.observers.push(actAsNamed(this.#password));
  }

  get express(): Express {
    return this.service.app;
  }

  /** The client of its database. */
  get orm(): OrmClient {
    return this.service.database.client;
  }

  /**
   * The same application called with the token of a seeded account, or of the account with these credentials; or by a
   * principal, whom guards let through without credentials.
   */
  as(
    account: 'admin' | 'user' | { email: string; password: string } | (TestPrincipal & { userId: string }),
  ): TestClient {
    if (typeof account === 'object' && 'userId' in account) {
      return new TestClient(this.url, { headers: headersOf(this.#password, account) });
    }
    const credentials =
      typeof account === 'string' ? { email: `${account}@example.com`, password: 'slipway-demo-password' } : account;
    const client =
      this.#clients.get(credentials.email) ?? new TestClient(this.url, { login: () => this.#login(credentials) });
    this.#clients.set(credentials.email, client);
    return client;
  }

  async #login(credentials: object): Promise<string> {
    const { accessToken } = await this.post('/auth/login', credentials).expectData();
    return accessToken;
  }

  /** How many records a model holds. */
  async count(model: DelegateName, where: object = {}): Promise<number> {
    return (this.orm[model] as { count(query: object): Promise<number> }).count({ where });
  }
}

/** A test sends from one address what thousands of clients would. */
const unlimited = {
  RATE_LIMIT_REQUESTS: '1000000000',
  AUTH_REQUESTS_PER_MINUTE: '1000000',
  AUTH_LOGINS_PER_ACCOUNT: '1000000',
  AUTH_LOGINS_PER_ACCOUNT_AND_HOUR: '1000000',
};

const variables = {
  NODE_ENV: 'test',
  LOG_LEVEL: 'silent',
  HOST: '127.0.0.1',
  PORT: '0',
  INTERNAL_HOST: '127.0.0.1',
  INTERNAL_PORT: '0',
  DATABASE_MIGRATE: 'false',
  DATABASE_SEED: 'none',
  SHUTDOWN_ACCEPT_MS: '0',
  ...unlimited,
};

/**
 * Boots the service on a fresh, seeded database and a free port, and closes it at the end of the test that called it,
 * or of the file when called at its top. A file boots as many as it likes, side by side.
 */
export async function bootTestApp({ env, configure, provider, ...options }: TestAppOptions = {}): Promise<TestApp> {
  const database = await createTestDatabase(provider);
  const uploads = mkdtempSync(join(tmpdir(), 'slipway-uploads-'));
  const own = { ...variables, DATABASE_URL: database.url, LOCAL_UPLOAD_DIR: uploads, ...env };
  const config = appConfig(own);
  const service = createService(configure?.(config) ?? config, { ...options, env: own });
  whenDone(async () => {
    const { failure } = await service.close();
    await database.remove();
    rmSync(uploads, { recursive: true, force: true });
    if (failure) throw failure;
  });
  const { addresses, internalAddress } = await service.start();
  return new TestApp(service, { url: addresses[0]?.url ?? '', internalUrl: internalAddress.url }, uploads);
}
