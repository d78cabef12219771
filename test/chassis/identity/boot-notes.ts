import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { TestRequest } from '../../../src/chassis/testing/test-client.ts';
import { bootTestApp, type TestApp } from '../../support/boot-test-app.ts';
import { type IssuerKey, TokenIssuer } from '../../support/token-issuer.ts';
import { memoryLog } from '../http/bare-app.ts';

const modulesDirectory = join(import.meta.dirname, '../../fixtures/modules-identity');

/** A service without a database that trusts an issuer with these keys beside its first one, what it logs, and that issuer. */
export async function bootNotes(env: Record<string, string> = {}, keys: readonly IssuerKey[] = []) {
  const issuer = await TokenIssuer.open(keys);
  afterAll(() => issuer.close());
  const log = memoryLog('info');
  const boot = (more: Record<string, string> = {}): Promise<TestApp> =>
    bootTestApp({
      env: { DATABASE_URL: 'none', ...issuer.env, ...env, ...more },
      configure: (config) => ({ ...config, modules: [{ name: 'notes', enabled: true }] }),
      modulesDirectory,
      logger: log.logger,
    });
  const app = await boot();
  return { app, issuer, log, boot, as: (token: string, path?: string) => asBearer(app, token, path) };
}

/** Asks with a token who calls, or for another path. */
export function asBearer(app: TestApp, token: string, path = '/me'): TestRequest {
  return app.send((server) => server.get(path).set('Authorization', `Bearer ${token}`));
}
