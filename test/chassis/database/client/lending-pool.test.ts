import { once } from 'node:events';
import type { PoolClient } from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { LendingPool } from '../../../../src/chassis/database/client/connect-postgresql.ts';
import { StatementNames } from '../../../../src/chassis/database/client/statement-names.ts';
import { onServer } from '../../../support/empty-database.ts';

/** Runs work as a request of its own. */
function inRequest<T>(work: () => T): T {
  const context = { requestId: 'r', method: 'GET', url: '/', startTime: new Date() };
  return runWithRequestContext(context, work);
}

describe('LendingPool', () => {
  let pool: LendingPool;

  beforeEach(() => {
    pool = new LendingPool({ connectionString: inject('postgresUrl'), max: 1, connectionTimeoutMillis: 2000 });
  });
  afterEach(() => pool.end());
  const counts = () => [pool.requests.waiting, pool.requests.served];

  it('counts a request once that waits with several queries, until the last of them has its connection', async () => {
    const client = await pool.connect();
    expect(counts()).toEqual([0, 1]);
    const one = inRequest(() => Promise.all([pool.query('select 1'), pool.query('select 2')]));
    const other = inRequest(() => pool.query('select 3'));
    expect(counts()).toEqual([2, 1]);
    client.release();
    await Promise.all([one, other]);
    expect(counts()).toEqual([0, 3]);
  });

  it('counts each use outside of requests', async () => {
    await pool.query('select 1');
    await pool.query('select 1');
    expect(counts()).toEqual([0, 2]);
  });

  it('counts both forms of connecting, and gives what the pool gives', async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    pool.connect((error, client, done) => {
      resolve([error, typeof client?.query]);
      done();
    });
    expect(await promise).toEqual([undefined, 'function']);
    const client = await pool.connect();
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    client.release();
    expect(counts()).toEqual([0, 2]);
  });

  it('lends no session again that was found read-only, and every other one whose statement failed', async () => {
    const backend = async () => (await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;
    const fail = async (sql: string) => {
      const client = await pool.connect();
      await expect(client.query(sql)).rejects.toThrow();
      client.release();
    };
    const first = await backend();
    await fail('SELECT 1/0');
    expect(await backend()).toBe(first);
    await fail('BEGIN READ ONLY; CREATE TABLE t (a int)');
    expect(await backend()).not.toBe(first);
  });

  it('counts as served nobody whose time ran out', async () => {
    const client = await pool.connect();
    const impatient = new LendingPool({ ...pool.options, connectionTimeoutMillis: 500 });
    const held = await impatient.connect();
    await expect(inRequest(() => impatient.query('select 1'))).rejects.toThrow(/timeout/);
    expect([impatient.requests.waiting, impatient.requests.served]).toEqual([0, 1]);
    held.release();
    client.release();
    await impatient.end();
  });

  it('closes a connection that may keep too many statements, once it is given back', async () => {
    const names = new StatementNames();
    names.areTooManyFor = () => true;
    const forgetful = new LendingPool(pool.options, { names });
    const removed = once(forgetful, 'remove');
    const client = await forgetful.connect();
    expect(forgetful.totalCount).toBe(1);
    client.release();
    await removed;
    expect(forgetful.totalCount).toBe(0);
    await forgetful.end();
  });

  it('outlives connections that the server ends, idle or lent, and lends new ones', async () => {
    const backend = 'select pg_backend_pid() as pid';
    /** Ends a connection on the server, and waits until its client knows. */
    const kill = async (client: PoolClient, pid: unknown) => {
      const ended = Promise.withResolvers<void>();
      client.on('end', ended.resolve);
      await onServer(`SELECT pg_terminate_backend(${pid})`);
      await ended.promise;
    };
    const lent = await pool.connect();
    const { rows } = await lent.query(backend);
    await kill(lent, rows[0].pid);
    lent.release();
    const second = await pool.connect();
    const [idle] = (await second.query(backend)).rows;
    second.release();
    await kill(second, idle.pid);
    const [next] = (await pool.query(backend)).rows;
    expect(new Set([rows[0].pid, idle.pid, next.pid]).size).toBe(3);
  });
});
