import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { AppConfig } from '../config/app-config.ts';
import type { Variables } from '../config/environment.ts';
import { importFile, sourceExtension, sourcesDirectory } from '../config/layout.ts';
import type { DatabaseProvider } from '../database/client/database-url.ts';
import { createService, type ServiceOptions } from '../service.ts';
import { actAsNamed } from './act-as-named.ts';
import { createTestDatabase } from './test-database.ts';
import { type StartedTestService, TestService } from './test-service.ts';
import { whenDone } from './when-done.ts';

/** What a test may change of the service that it boots. */
export interface TestServiceOptions extends Omit<ServiceOptions, 'env'> {
  /** Variables beside those that every booted service gets. */
  env?: Record<string, string>;
  /** What the service is made of. Default: what src/app.config.ts says. */
  appConfig?: (env: Variables) => AppConfig;
  /** Changes the service's configuration. */
  configure?: (config: AppConfig) => AppConfig;
  /** Which database it runs on. Default: the one of the project of vitest that runs the test. */
  provider?: DatabaseProvider;
}

/** A test sends from one address what thousands of clients would. */
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
  RATE_LIMIT_REQUESTS: '1000000000',
};

/**
 * Boots the service of src/app.config.ts on a migrated database of its own and on free ports, and closes it at the end of
 * the test that called it, or of the file when a hook or its top called it. A file boots as many as it likes, side by side.
 *
 * @throws what the start of the service raises
 */
export async function bootTestService(options: TestServiceOptions = {}): Promise<TestService> {
  return new TestService(await startTestService(options));
}

/** Starts what `bootTestService` gives tests to call, for a client of another kind. @throws what the start of the service raises */
export async function startTestService(options: TestServiceOptions): Promise<StartedTestService> {
  const { env, appConfig = await ownAppConfig(), configure, provider, ...rest } = options;
  const database = await createTestDatabase(provider);
  const uploads = mkdtempSync(join(tmpdir(), 'slipway-uploads-'));
  const shared: Record<string, string> = JSON.parse(process.env.TEST_SETTINGS ?? '{}');
  const own = { ...variables, ...shared, DATABASE_URL: database.url, LOCAL_UPLOAD_DIR: uploads, ...env };
  const config = appConfig(own);
  const service = createService(configure?.(config) ?? config, { ...rest, env: own });
  const password = randomUUID();
  service.observers.push(actAsNamed(password));
  whenDone(async () => {
    const { failure } = await service.close();
    await database.remove();
    rmSync(uploads, { recursive: true, force: true });
    if (failure) throw failure;
  });
  const { addresses, internalAddress } = await service.start();
  return { service, url: addresses[0]?.url ?? '', internalUrl: internalAddress.url, uploads, password };
}

async function ownAppConfig(): Promise<(env: Variables) => AppConfig> {
  return (await importFile(join(sourcesDirectory, `app.config${sourceExtension}`))).appConfig;
}
