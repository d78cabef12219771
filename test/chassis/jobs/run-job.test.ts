import { expect, it, vi } from 'vitest';
import type { Principal } from '../../../src/chassis/context/principal.ts';
import { currentPrincipal, getRequestContext } from '../../../src/chassis/context/request-context.ts';
import { runAs } from '../../../src/chassis/context/run-as.ts';
import { ErrorReports } from '../../../src/chassis/errors/reporters/error-reports.ts';
import type { JobRun } from '../../../src/chassis/jobs/define-jobs.ts';
import { envelopeOf } from '../../../src/chassis/jobs/job-envelope.ts';
import type { JobPlan } from '../../../src/chassis/jobs/job-plan.ts';
import { runJob } from '../../../src/chassis/jobs/run-job.ts';
import { JobMetrics } from '../../../src/chassis/telemetry/metrics/job-metrics.ts';
import { SeriesLimit } from '../../../src/chassis/telemetry/metrics/metric-family.ts';
import { propagateJobTrace } from '../../../src/chassis/telemetry/tracing/trace-context.ts';
import { recordingLogger } from '../../support/log-lines.ts';

const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;

/** Runs work once as a job with a time limit. */
function run(
  work: (run: JobRun) => unknown,
  {
    timeLimitMs = 60_000,
    attempts = 3,
    shutdown = new AbortController(),
    principal = undefined as JobPlan['principal'],
    sentBy = undefined as Principal | undefined,
    data = undefined as unknown,
  } = {},
) {
  const { logger, lines } = recordingLogger();
  const errors = new ErrorReports(logger, []);
  const witnesses = { logger, metrics: new JobMetrics(new SeriesLimit(10)), errors, tracer: propagateJobTrace };
  const plan = {
    name: 'try',
    timeLimitMs,
    attempts,
    principal,
    work: (_data: never, one: JobRun) => work(one),
  } as JobPlan;
  const send = () => JSON.parse(JSON.stringify(envelopeOf(null)));
  const envelope = sentBy ? runAs(sentBy, send) : send();
  const job = {
    id: 'id-1',
    queue: 'try',
    attempt: 1,
    dueAt: new Date(),
    data: data === undefined ? { ...envelope, traceparent } : data,
  };
  return { lines, result: runJob(plan, job, witnesses, shutdown.signal) };
}

it('aborts the signal of a run at its time limit, and counts what ends then by its own end', async () => {
  let reason: unknown;
  const { result } = run(
    ({ signal }) =>
      new Promise<void>((done) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
          done();
        });
      }),
    { timeLimitMs: 5 },
  );
  expect(await result).toEqual({ outcome: 'completed' });
  expect(reason).toMatchObject({ name: 'TimeoutError', message: 'The job ran for 5 ms' });
});

it('lets a run ask the database and other services no longer than its time limit', async () => {
  let deadline: number | undefined;
  const { result } = run(() => {
    deadline = getRequestContext()?.deadline;
  });
  await result;
  expect(deadline).toBeGreaterThan(Date.now() + 30_000);
  expect(deadline).toBeLessThanOrEqual(Date.now() + 60_000);
});

const ann: Principal = {
  userId: 'ann',
  tenantId: 'acme',
  roles: new Set(['admin']),
  scopes: new Set(['a']),
  authenticatedAt: new Date(0),
  via: 'token',
};
const system: Principal = { userId: 'system', roles: new Set(['auditor']), scopes: new Set() };

it.each([
  ['nobody unless it says so, whoever sent it', undefined, ann, undefined],
  ['whoever sent it, with roles and tenant of then', 'sender', ann, ann],
  ['nobody where nobody sent it', 'sender', undefined, undefined],
  ['the principal that it names', system, ann, system],
] as const)('acts as %s', async (_whom, principal, sentBy, expected) => {
  let found: Principal | undefined;
  const { result, lines } = run(
    () => {
      found = currentPrincipal();
    },
    { principal, sentBy },
  );
  await result;
  expect(found).toEqual(expected);
  expect(JSON.stringify(lines)).not.toMatch(/acme|auditor/);
});

it('continues the trace of what sent the job', async () => {
  let traceId: string | undefined;
  const { result, lines } = run(() => {
    traceId = getRequestContext()?.traceId;
  });
  await result;
  expect(traceId).toBe('a'.repeat(32));
  expect(lines.at(-1)).toMatchObject({ msg: 'job completed', traceId });
});

it('takes what fails because of a shutdown for aborted, and reports nothing', async () => {
  const shutdown = new AbortController();
  const work = ({ signal }: JobRun) => {
    shutdown.abort();
    signal.throwIfAborted();
  };
  expect((await run(work, { shutdown }).result).outcome).toBe('aborted');
});

it('says of the last attempt that the job is dead', async () => {
  const fail = () => {
    throw new Error('no');
  };
  expect(await run(fail, { attempts: 2 }).result).toEqual({ outcome: 'failed', reason: 'no' });
  expect(await run(fail, { attempts: 1 }).result).toEqual({ outcome: 'dead', reason: 'no' });
});

it.each([
  ['null', null],
  ['a text', 'order 1'],
  ['a trace that is no text', { payload: 1, traceparent: { length: 55 } }],
  ['a request that is no text', { payload: 1, requestId: ['a'] }],
  ['a sender without roles', { payload: 1, sender: { userId: 'ann', scopes: [] } }],
  ['a sender whose roles are no list', { payload: 1, sender: { userId: 'ann', roles: 5, scopes: [] } }],
  ['a sender that is null', { payload: 1, sender: null }],
])('fails, and begins no work, with data that no version of the service stores: %s', async (_what, data) => {
  const work = vi.fn();
  const { result, lines } = run(work, { data, principal: 'sender' });
  expect(await result).toMatchObject({
    outcome: 'failed',
    reason: expect.stringContaining('as this service stores it'),
  });
  expect(work).not.toHaveBeenCalled();
  expect(lines).toContainEqual(expect.objectContaining({ msg: 'job failed', jobId: 'id-1' }));
});
