import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PostgresServer, startPostgres } from '../../src/chassis/testing/postgres.ts';
import { type Packed, pack, run } from './pack.ts';
import { withService } from './with-service.ts';

const directory = mkdtempSync(join(tmpdir(), 'slipway-auth-'));
/** All kinds run on the packages of this one, which npm installs once. */
const first = join(directory, 'token');
let packed: Packed;
let postgres: PostgresServer;

beforeAll(async () => {
  [packed, postgres] = await Promise.all([pack(directory), startPostgres()]);
  const program = ['--yes', `--package=${packed.tarball}`, 'slipway', 'new', 'token'];
  await run('npx', [...program, '--database', 'postgresql', '--auth', 'token', '--yes'], directory);
}, 900_000);
afterAll(async () => {
  await postgres?.stop();
  rmSync(directory, { recursive: true, force: true });
});

const json = { 'content-type': 'application/json' };
const categories = '/api/v1/categories';
const tokenOf = (service: string) => /AUTH_TOKEN=(\S+)/.exec(readFileSync(join(service, '.env'), 'utf8'))?.[1];

/** The status of a request that stores a category. */
async function store(url: string, name: string, headers: Record<string, string> = {}): Promise<number> {
  const body = JSON.stringify({ name });
  return (await fetch(url + categories, { method: 'POST', headers: { ...json, ...headers }, body })).status;
}

/** What each kind lets in, by its own README where that has a command. */
const calls: Record<string, (url: string, service: string) => Promise<void>> = {
  async token(url, service) {
    expect(await store(url, 'Lamps')).toBe(401);
    expect(await store(url, 'Lamps', { authorization: `Bearer ${tokenOf(service)}` })).toBe(201);
  },
  async 'api-keys'(url, service) {
    const [, make = ''] = /```sh\n(curl [^`]*)```/.exec(readFileSync(join(service, 'README.md'), 'utf8')) ?? [];
    const { stdout } = await run('bash', ['-ec', make.replace('localhost:3000', new URL(url).host)], service);
    const { key, id } = (JSON.parse(stdout) as { data: { key: string; id: string } }).data;
    expect(await store(url, 'Lamps')).toBe(401);
    expect(await store(url, 'Lamps', { 'x-api-key': key })).toBe(201);
    const headers = { authorization: `Bearer ${tokenOf(service)}` };
    expect((await fetch(`${url}/auth/api-keys/${id}`, { method: 'DELETE', headers })).status).toBe(204);
    expect(await store(url, 'Lights', { 'x-api-key': key })).toBe(401);
  },
  async issuer(url) {
    expect(await store(url, 'Lamps')).toBe(401);
    expect(await store(url, 'Lamps', { authorization: 'Bearer e30.e30.e30' })).toBe(401);
  },
  async none(url) {
    expect(await store(url, 'Lamps')).toBe(201);
  },
};

describe.each([
  ['token', 'postgresql'],
  ['api-keys', 'both'],
  ['issuer', 'postgresql'],
  ['none', 'both'],
] as const)('slipway new --auth %s --database %s', (auth, database) => {
  const service = join(directory, auth);

  it('makes a service that passes its own check: types, and tests on its databases', async () => {
    if (auth !== 'token') {
      const kind = ['--auth', auth, '--database', database, '--yes', '--no-install', `--package=${packed.tarball}`];
      await run(join(first, 'node_modules/.bin/slipway'), ['new', auth, ...kind], directory);
      symlinkSync(join(first, 'node_modules'), join(service, 'node_modules'));
    }
    await run('npx', ['slipway', 'module', 'product', 'name:string', 'category:ref'], service);
    const { stdout } = await run('npm', ['run', 'check'], service);
    expect(stdout).toMatch(/Test Files +\d+ passed \(\d+\)/);
    expect(stdout).toContain('postgresql');
    expect(stdout.includes('|sqlite|')).toBe(database === 'both');
  }, 600_000);

  it('starts, lists for everybody, and stores for those who may', async () => {
    const url = database === 'both' ? undefined : await postgres.createDatabase(`own_${auth}`);
    const use = async ({ url: address }: { url: string }) => {
      expect((await fetch(address + categories)).status).toBe(200);
      await calls[auth]?.(address, service);
    };
    await withService(service, use, url === undefined ? {} : { DATABASE_URL: url, DATABASE_MIGRATE: 'true' });
  }, 180_000);
});
