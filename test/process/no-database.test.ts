import { afterAll, describe, expect, it } from 'vitest';
import { killSpawned, SpawnedService } from '../support/spawn-service.ts';

const env = { NODE_ENV: 'production', DATABASE_URL: 'none', SHUTDOWN_ACCEPT_MS: '0' };

afterAll(killSpawned);

describe('a service without a database', () => {
  it('serves, is ready, and measures no pool', async () => {
    const service = new SpawnedService({ program: ['dist-test/test/fixtures/trouble/main.js', 'trouble'], env });
    const { url, internalUrl } = await service.ready();
    expect((await fetch(`${url}/wait/0`)).status).toBe(200);
    const readiness = await fetch(`${internalUrl}/readyz`);
    expect([readiness.status, Object.keys(((await readiness.json()) as { checks: object }).checks)]).toEqual([200, []]);
    expect(await (await fetch(`${internalUrl}/metrics`)).text()).not.toContain('database_pool_connections{');
    expect(await service.end()).toEqual({ code: 0, signal: null });
  });

  it('is not ready while a module needs a database, and says which', async () => {
    const secret = { ACCESS_SECRET: 'a secret of the tests, 32 letters or more' };
    const service = new SpawnedService({ env: { ...env, ...secret } });
    const { internalUrl, failures } = await service.line('started, not ready');
    expect(await (await fetch(`${internalUrl}/readyz`)).json()).toMatchObject({ status: 'unavailable' });
    const error = expect.stringContaining('Expected an open database, found none.');
    expect(failures).toContainEqual({ loader: 'loadRoutes', module: 'catalog', file: 'product.routes.js', error });
    expect(await service.end()).toEqual({ code: 0, signal: null });
  });
});
