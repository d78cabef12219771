import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type OpenOrm, openDatabase } from '../../../src/chassis/database/client/orm.ts';
import { applyMigrations } from '../../../src/chassis/database/migrations/apply-migrations.ts';
import { unitOfWorkOn } from '../../../src/chassis/database/work/unit-of-work.ts';
import { installJobs } from '../../../src/chassis/jobs/install-jobs.ts';
import type { JobStore, QueueRules, TakenJob } from '../../../src/chassis/jobs/job-store.ts';
import { PgBossStore } from '../../../src/chassis/jobs/pg-boss-store.ts';
import { SqliteStore } from '../../../src/chassis/jobs/sqlite-store.ts';
import { databaseProviders, type EmptyDatabase, emptyDatabase } from '../../support/empty-database.ts';
import { recordingLogger } from '../../support/log-lines.ts';

const modules = join(import.meta.dirname, '../../fixtures/modules-jobs');
const rules = { attempts: 3, backoffMs: 0, expiryMs: 60_000 };
const queues: QueueRules[] = [
  { name: 'plain', policy: 'standard', ...rules },
  { name: 'tried', policy: 'standard', ...rules },
  { name: 'later', policy: 'standard', ...rules },
  { name: 'late', policy: 'standard', ...rules },
  { name: 'nested.queue', policy: 'standard', ...rules },
  { name: 'single', policy: 'single', ...rules },
  { name: 'ordered', policy: 'ordered', ...rules },
];

describe.each(databaseProviders)('the store of jobs on %s', (provider) => {
  let database: EmptyDatabase;
  let orm: OpenOrm;
  let store: JobStore;

  beforeAll(async () => {
    database = await emptyDatabase(provider);
    await applyMigrations(database.settings);
    await installJobs(database.settings, modules);
    // What is there stays as it is.
    await installJobs(database.settings, modules);
    orm = await openDatabase(database.settings);
    store = makeStore();
    await store.open(queues);
  });

  afterAll(async () => {
    await store.close();
    await orm.close();
    await database.remove();
  });

  function makeStore(): JobStore {
    const { client, pool } = orm;
    if (!pool) return new SqliteStore({ client, leaseSeconds: 10 });
    const { logger } = recordingLogger();
    return new PgBossStore({ client, pool, databaseUrl: database.settings.DATABASE_URL, leaseSeconds: 10, logger });
  }

  it('gives each job to one taker, with its data and in the order in which they were stored', async () => {
    await store.store('plain', [{ data: { n: 1 } }, { data: { n: 2 } }, { data: { n: 3 } }]);
    const [first, second] = await Promise.all([store.take('plain', 2), store.take('plain', 2)]);
    const taken = [...(first ?? []), ...(second ?? [])];
    expect(taken.map(({ data }) => (data as { n: number }).n).sort()).toEqual([1, 2, 3]);
    expect(new Set(taken.map(({ id }) => id)).size).toBe(3);
    expect(taken[0]).toMatchObject({ queue: 'plain', attempt: 1, dueAt: expect.any(Date) });
    for (const job of taken) await store.complete(job);
    expect(await store.take('plain', 5)).toEqual([]);
  });

  it('stores jobs with their unit of work or not at all', async () => {
    const undone = unitOfWorkOn(orm.client, async () => {
      await store.store('nested.queue', [{ data: 'undone' }]);
      throw new Error('no');
    });
    await expect(undone).rejects.toThrow('no');
    await unitOfWorkOn(orm.client, async () => {
      await store.store('nested.queue', [{ data: { kept: 1 } }]);
      const inside = unitOfWorkOn(orm.client, async () => {
        await store.store('nested.queue', [{ data: { kept: 2 } }]);
        throw new Error('inner');
      });
      await expect(inside).rejects.toThrow('inner');
    });
    const taken = await store.take('nested.queue', 5);
    expect(taken.map(({ data }) => data)).toEqual([{ kept: 1 }]);
  });

  it('stores an id once, also after its job is done', async () => {
    const id = randomUUID();
    await store.store('plain', [{ id, data: { n: 1 } }]);
    await store.store('plain', [{ id, data: { n: 2 } }]);
    const [job, ...others] = await store.take('plain', 5);
    expect([job?.id, others.length]).toEqual([id, 0]);
    if (job) await store.complete(job);
    await store.store('plain', [{ id, data: { n: 3 } }]);
    expect(await store.take('plain', 5)).toEqual([]);
  });

  it('gives no job before it is due', async () => {
    await store.store('later', [{ data: {}, runAt: new Date(Date.now() + 3_600_000) }]);
    expect(await store.take('later', 5)).toEqual([]);
    await store.store('later', [{ data: {}, runAt: new Date(Date.now() - 1000) }]);
    expect(await store.take('later', 5)).toHaveLength(1);
  });

  it('says since when the oldest due job of a queue has waited', async () => {
    const hourAgo = new Date(Date.now() - 3_600_000);
    await store.store('late', [
      { data: {}, runAt: new Date(Date.now() + 3_600_000) },
      { data: {} },
      ...(provider === 'sqlite' ? [{ data: {}, runAt: hourAgo }] : []),
    ]);
    const before = Date.now();
    const due = (await store.overdue(['late', 'never'])).get('late');
    // pg-boss lets nothing wait since before it was stored.
    if (provider === 'sqlite') expect(due).toEqual(hourAgo);
    else expect(Math.abs(before - Number(due))).toBeLessThan(60_000);
    for (const job of await store.take('late', 5)) await store.complete(job);
    expect(await store.overdue(['late', 'never'])).toEqual(new Map());
  });

  it('tries a job as often as its queue says, then keeps it until it is revived', async () => {
    await store.store('tried', [{ data: { text: 'stubborn' } }]);
    for (const attempt of [1, 2, 3]) {
      const [job] = await takeSoon('tried');
      expect(job).toMatchObject({ attempt, data: { text: 'stubborn' } });
      if (job) await store.fail(job, 'it does not want to');
    }
    expect(await store.take('tried', 5)).toEqual([]);
    expect(await store.revive('tried')).toBe(1);
    const [job] = await takeSoon('tried');
    expect(job).toMatchObject({ attempt: 1, data: { text: 'stubborn' } });
    if (job) await store.complete(job);
    expect(await store.revive('tried')).toBe(0);
  });

  it('lets nobody settle a job whose lease has gone to another', async () => {
    await store.store('tried', [{ data: {} }]);
    const [job] = await takeSoon('tried');
    if (!job) throw new Error('Expected a job, found none.');
    await store.fail(job, 'given up');
    const [again] = await takeSoon('tried');
    await store.complete(job);
    await store.fail(job, 'too late');
    expect(again?.attempt).toBe(2);
    if (again) await store.fail(again, 'once more');
    const [third] = await takeSoon('tried');
    expect(third?.attempt).toBe(3);
    if (third) await store.complete(third);
  });

  it('keeps one job of a single queue at a time, until that is done', async () => {
    await store.store('single', [{ data: { n: 1 } }, { data: { n: 2 } }]);
    const [job, ...others] = await store.take('single', 5);
    expect([job?.data, others.length]).toEqual([{ n: 1 }, 0]);
    await store.store('single', [{ data: { n: 3 } }]);
    expect(await store.take('single', 5)).toEqual([]);
    if (job) await store.complete(job);
    await store.store('single', [{ data: { n: 4 } }]);
    expect((await store.take('single', 5)).map(({ data }) => data)).toEqual([{ n: 4 }]);
  });

  it('runs the jobs of one key of an ordered queue one after the other, past a failure too', async () => {
    await store.store('ordered', [
      { data: { n: 1 }, key: 'a' },
      { data: { n: 2 }, key: 'a' },
      { data: { n: 3 }, key: 'b' },
    ]);
    const numbers = (jobs: { data: unknown }[]) => jobs.map(({ data }) => (data as { n: number }).n).sort();
    const first = await store.take('ordered', 5);
    expect(numbers(first)).toEqual([1, 3]);
    const [a] = first.filter(({ data }) => (data as { n: number }).n === 1);
    if (a) await store.fail(a, 'not yet');
    const again = await takeSoon('ordered');
    expect(numbers(again)).toEqual([1]);
    if (again[0]) await store.complete(again[0]);
    expect(numbers(await store.take('ordered', 5))).toEqual([2]);
  });

  /** Takes what becomes due within seconds: a second attempt waits for a moment. */
  async function takeSoon(queue: string): Promise<TakenJob[]> {
    return vi.waitUntil(
      async () => {
        const jobs = await store.take(queue, 5);
        return jobs.length > 0 ? jobs : undefined;
      },
      { timeout: 15_000, interval: 50 },
    );
  }
});
