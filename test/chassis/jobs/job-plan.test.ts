import { describe, expect, it } from 'vitest';
import { cron, every, type JobDefinition, job, on } from '../../../src/chassis/jobs/define-jobs.ts';
import type { Duration } from '../../../src/chassis/jobs/duration.ts';
import { planJobs } from '../../../src/chassis/jobs/job-plan.ts';

const nothing = () => undefined;

function plan(...definitions: JobDefinition[]) {
  const found = definitions.map((definition) => ({ module: 'orders', from: 'orders/order.jobs.ts', definition }));
  return planJobs(found, ['order.placed', 'order.paid']);
}

const handler = on as (event: string, work: () => unknown, options?: object) => JobDefinition;
const queue = job as (name: string, work: () => unknown, options?: object) => JobDefinition;

describe('declarations of jobs', () => {
  it('have defaults that hold for most', async () => {
    const { plans, problems } = await plan(
      every('30s', 'expire-drafts', nothing),
      cron('0 3 * * *', 'nightly', nothing),
      queue('charge', nothing),
      handler('order.placed', nothing),
      handler('order.placed', nothing, { name: 'mail', attempts: 9, backoff: '1m', concurrency: 2, timeLimit: '20s' }),
    );
    expect(problems).toEqual([]);
    expect(plans).toMatchObject([
      { name: 'expire-drafts', attempts: 3, policy: 'single', replicas: 'one', jitterMs: 3000, timeLimitMs: 300_000 },
      { name: 'nightly', attempts: 3, policy: 'single', jitterMs: 0 },
      { name: 'charge', attempts: 5, policy: 'standard', backoffMs: 10_000, schedule: undefined },
      { name: 'order.placed.orders', event: 'order.placed' },
      { name: 'order.placed.mail', attempts: 9, backoffMs: 60_000, concurrency: 2, timeLimitMs: 20_000 },
    ]);
  });

  it('that do not hold are told in one sentence each, with what was expected and found', async () => {
    const { problems } = await plan(
      every('30 s' as Duration, 'spaced', nothing),
      every('5ms', 'hurried', nothing),
      every('30s', 'Loud_Name', nothing),
      every('1m', 'twice', nothing),
      every('1m', 'twice', nothing, { attempts: 0, jitter: '1y' as Duration, backoff: 'soon' as Duration }),
      every('1m', 'in-each', nothing, { replicas: 'each', attempts: 2 }),
      cron('61 * * * *', 'never', nothing),
      cron('* * *', 'short', nothing),
      cron('0 3 * * *', 'elsewhere', nothing, { timeZone: 'Europe/Atlantis' }),
      queue('greedy', nothing, { concurrency: 0, timeLimit: '24h' }),
      handler('order.place', nothing),
      handler('invoice.sent', nothing),
      handler('order.paid', nothing),
      handler('order.paid', nothing),
    );
    expect(problems.map((text) => text.replace('orders/order.jobs.ts: ', ''))).toMatchSnapshot();
  });

  it('are due at the same moments in all replicas, each job at its own', async () => {
    const [here, there] = await Promise.all(
      [1, 2].map(() => plan(every('1h', 'a', nothing), every('1h', 'b', nothing))),
    );
    const after = Date.UTC(2026, 0, 1);
    const dues = here?.plans.map(({ schedule }) => schedule?.next(after) ?? 0) ?? [];
    expect(there?.plans.map(({ schedule }) => schedule?.next(after))).toEqual(dues);
    expect(dues[0]).not.toBe(dues[1]);
    for (const [index, due] of dues.entries()) {
      expect(due).toBeGreaterThan(after);
      expect(here?.plans[index]?.schedule?.next(due)).toBe(due + 3_600_000);
    }
  });

  it('by a calendar mean the time zone that they name', async () => {
    const { plans } = await plan(
      cron('0 3 * * *', 'in-utc', nothing),
      cron('0 3 * * *', 'in-berlin', nothing, { timeZone: 'Europe/Berlin' }),
      cron('*/10 * * * * *', 'often', nothing),
    );
    const due = plans.map(({ schedule }) => new Date(schedule?.next(Date.UTC(2026, 6, 1, 12)) ?? 0).toISOString());
    expect(due).toEqual(['2026-07-02T03:00:00.000Z', '2026-07-02T01:00:00.000Z', '2026-07-01T12:00:10.000Z']);
  });
});
