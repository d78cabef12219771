import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { Express } from 'express';
import { afterAll, expect, onTestFinished } from 'vitest';
import { appConfig } from '../../src/app.config.ts';
import type { AppConfig } from '../../src/chassis/config/app-config.ts';
import { orm } from '../../src/chassis/database/client/orm.ts';
import { type Service, type StartOptions, startService } from '../../src/chassis/start.ts';
import { TestClient } from './test-client.ts';
import { createTestDatabase } from './test-database.ts';

/** What a test may change of the application that it boots. */
export interface TestAppOptions extends StartOptions {
  /** Environment variables beside those that every test application gets. */
  env?: Record<string, string>;
  /** Changes the application's configuration. */
  configure?: (config: AppConfig) => AppConfig;
}

/** The real application on a real database, called over HTTP as nobody unless `as` says otherwise. */
export class TestApp extends TestClient {
  readonly url: string;
  /** The internal server: probes, metrics, log level. */
  readonly internal: TestClient;
  readonly internalUrl: string;
  readonly express: Express;
  /** The directory of uploaded files. */
  readonly uploads: string;
  readonly #clients = new Map<string, TestClient>();

  constructor({ app, addresses, internalAddress }: Service, uploads: string) {
    super(addresses[0]?.url ?? '');
    this.url = addresses[0]?.url ?? '';
    this.internalUrl = internalAddress.url;
    this.internal = new TestClient(internalAddress.url);
    this.express = app;
    this.uploads = uploads;
  }

  /** The same application called with the token of a seeded account, or of the account with these credentials. */
  as(account: 'admin' | 'user' | { email: string; password: string }): TestClient {
    const credentials =
      typeof account === 'string' ? { email: `${account}@example.com`, password: 'slipway-demo-password' } : account;
    const client = this.#clients.get(credentials.email) ?? new TestClient(this.url, credentials);
    this.#clients.set(credentials.email, client);
    return client;
  }

  /** How many records a model holds. */
  async count(
    model: 'user' | 'profile' | 'category' | 'product' | 'refreshToken',
    where: object = {},
  ): Promise<number> {
    return (orm()[model] as { count(query: object): Promise<number> }).count({ where });
  }
}

/** A test sends from one address what thousands of clients would. */
const unlimited = {
  RATE_LIMIT_REQUESTS: '1000000000',
  AUTH_REQUESTS_PER_MINUTE: '1000000',
  AUTH_LOGINS_PER_ACCOUNT: '1000000',
};

/**
 * Boots the service on a fresh, seeded database and a free port, and closes it at the end of the test that called it,
 * or of the file when called at its top. One at a time: a file boots its application once, or each test its own.
 */
export async function bootTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const database = await createTestDatabase();
  const uploads = mkdtempSync(join(tmpdir(), 'slipway-uploads-'));
  const before = { ...process.env };
  Object.assign(process.env, { HOST: '127.0.0.1', PORT: '0', INTERNAL_HOST: '127.0.0.1', INTERNAL_PORT: '0' });
  Object.assign(process.env, { DATABASE_URL: database.url, LOCAL_UPLOAD_DIR: uploads });
  Object.assign(
    process.env,
    { DATABASE_MIGRATE: 'false', DATABASE_SEED: 'none', SHUTDOWN_ACCEPT_MS: '0' },
    unlimited,
    options.env,
  );
  const config = options.configure?.(appConfig()) ?? appConfig();
  const service = await startService(config, options);
  whenDone(async () => {
    const { failure } = await service.close();
    if (failure) throw failure;
    await database.remove();
    rmSync(uploads, { recursive: true, force: true });
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  });
  return new TestApp(service, uploads);
}

function whenDone(close: () => Promise<void>): void {
  if (expect.getState().currentTestName === undefined) afterAll(close);
  else onTestFinished(close);
}
