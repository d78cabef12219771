import { describe, expect, inject, it } from 'vitest';
import { runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { CancellingPool } from '../../../../src/chassis/database/client/connect-postgresql.ts';
import { type Borrower, borrowing } from '../../../../src/chassis/database/client/current-work.ts';
import { OpenRequest } from '../../../../src/chassis/http/pipeline/request-context-of.ts';

function request(): OpenRequest {
  const nothing = { userAgent: undefined, ipAddress: undefined, deadline: undefined };
  return new OpenRequest({ requestId: 'a', method: 'GET', url: '/', ...nothing });
}

describe('the query after one that was cancelled', () => {
  it('is never hit, however close the end of the first is', async () => {
    const pool = new CancellingPool({ connectionString: inject('postgresUrl'), max: 1 }, { everyMs: 1 });
    const outcomes = { cancelled: 0, finished: 0 };
    for (let round = 0; round < 150; round += 1) {
      const abandoned = request();
      const text = `SELECT pg_sleep(${(round % 10) / 2000})`;
      const first = runWithRequestContext(abandoned, () => pool.query({ text }));
      abandoned.abort('gone');
      await first.then(
        () => (outcomes.finished += 1),
        () => (outcomes.cancelled += 1),
      );
      const { rows } = await pool.query({ text: 'SELECT pg_sleep(0.002), 42 AS answer' });
      expect(rows).toMatchObject([{ answer: 42 }]);
    }
    await pool.end();
    expect(outcomes.cancelled).toBeGreaterThan(0);
    expect(outcomes.finished).toBeGreaterThan(0);
  });

  it('gets a new connection when it is not certain that the server has acted', async () => {
    const pool = new CancellingPool({ connectionString: inject('postgresUrl'), max: 1 }, { everyMs: 1 });
    const client = await pool.connect();
    // Somewhere nobody answers to a request to cancel.
    Object.assign(client, { port: 1 });
    client.release();
    const abandoned = request();
    const first = runWithRequestContext(abandoned, () => pool.query({ text: 'SELECT pg_sleep(0.2)' }));
    abandoned.abort('gone');
    await first;
    expect(pool.totalCount).toBe(0);
    expect((await pool.query({ text: 'SELECT 42 AS answer' })).rows).toEqual([{ answer: 42 }]);
    await pool.end();
  });
});

describe('the connection of a transaction', () => {
  it('is closed when its statement cannot be cancelled', async () => {
    const pool = new CancellingPool({ connectionString: inject('postgresUrl'), max: 1 });
    const borrower: Borrower = {};
    const client = await borrowing(borrower, () => pool.connect());
    Object.assign(client, { port: 1 });
    const slow = client.query('SELECT pg_sleep(5)');
    const settled = slow.then(
      () => undefined,
      () => undefined,
    );
    await borrower.connection?.stop(settled);
    await expect(slow).rejects.toThrow('terminated');
    client.release();
    expect(pool.totalCount).toBe(0);
    expect((await pool.query({ text: 'SELECT 42 AS answer' })).rows).toEqual([{ answer: 42 }]);
    await pool.end();
  });

  it('is cancelled again when it runs a further statement', async () => {
    const pool = new CancellingPool({ connectionString: inject('postgresUrl'), max: 1 });
    const borrower: Borrower = {};
    const client = await borrowing(borrower, () => pool.connect());
    const several = async () => {
      await client.query('SELECT pg_sleep(5)').catch(() => undefined);
      await client.query('SELECT pg_sleep(5)').catch(() => undefined);
    };
    const since = performance.now();
    const ended = several();
    await borrower.connection?.stop(ended);
    await ended;
    expect(performance.now() - since).toBeLessThan(2000);
    client.release();
    expect(pool.totalCount).toBe(1);
    await pool.end();
  });
});
