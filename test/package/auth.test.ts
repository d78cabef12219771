import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Packed, pack, run } from './pack.ts';
import { withService } from './with-service.ts';

const directory = mkdtempSync(join(tmpdir(), 'slipway-auth-'));
let packed: Packed;

beforeAll(async () => {
  packed = await pack(directory);
}, 120_000);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** `token` is what new-service.test.ts makes; the statuses are of a write without credentials, and of one with a made-up token. */
describe.each([
  ['issuer', 401, 401],
  ['none', 201, 201],
] as const)('a service that is made with --auth %s', (auth, withoutToken, withToken) => {
  const service = join(directory, auth);

  it('compiles, and passes its tests on both databases', async () => {
    const flags = ['--auth', auth, '--yes'];
    await run('npx', ['--yes', `--package=${packed.tarball}`, 'slipway', 'new', auth, ...flags], directory);
    await run('npx', ['slipway', 'module', 'product', 'name:string', 'category:ref'], service);
    const { stdout } = await run('npm', ['run', 'check'], service);
    expect(stdout).toMatch(/Test Files +\d+ passed/);
    for (const provider of ['postgresql', 'sqlite']) expect(stdout).toContain(provider);
  }, 400_000);

  it('starts as it is, and lets in whom it should', async () => {
    await withService(service, async ({ url }) => {
      const post = (name: string, headers: Record<string, string> = {}) =>
        fetch(`${url}/api/v1/categories`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ name }),
        });
      expect((await fetch(`${url}/api/v1/categories`)).status).toBe(200);
      expect((await post('Books')).status).toBe(withoutToken);
      expect((await post('Lamps', { authorization: 'Bearer made.up.token' })).status).toBe(withToken);
    });
    const { stdout } = await run('npx', ['slipway', 'routes'], service);
    expect(stdout).toMatch(
      auth === 'none' ? /^POST +\/api\/v1\/products +everybody/m : /^POST +\/api\/v1\/products +bearer/m,
    );
  }, 60_000);
});
