import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { CountingPool } from '../../../../src/chassis/database/client/counting-pool.ts';

let pool: CountingPool;

beforeEach(() => {
  pool = new CountingPool({ connectionString: inject('postgresUrl'), max: 1, connectionTimeoutMillis: 2000 });
});
afterEach(() => pool.end());

/** Runs work as a request of its own. */
function request<T>(work: () => T): T {
  const context = { requestId: 'r', method: 'GET', url: '/', startTime: new Date() };
  return runWithRequestContext(context, work);
}

const counts = () => [pool.requests.waiting, pool.requests.served];

describe('CountingPool', () => {
  it('counts a request once that waits with several queries, until the last of them has its connection', async () => {
    const client = await pool.connect();
    expect(counts()).toEqual([0, 1]);
    const one = request(() => Promise.all([pool.query('select 1'), pool.query('select 2')]));
    const other = request(() => pool.query('select 3'));
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

  it('counts as served nobody whose time ran out', async () => {
    const client = await pool.connect();
    const impatient = new CountingPool({ ...pool.options, connectionTimeoutMillis: 20 });
    const held = await impatient.connect();
    await expect(request(() => impatient.query('select 1'))).rejects.toThrow(/timeout/);
    expect([impatient.requests.waiting, impatient.requests.served]).toEqual([0, 1]);
    held.release();
    client.release();
    await impatient.end();
  });
});
