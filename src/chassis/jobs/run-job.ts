import { randomUUID } from 'node:crypto';
import { type RequestContext, runWithRequestContext } from '../context/request-context.ts';
import type { ErrorReports } from '../errors/reporters/error-reports.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { JobMetrics, JobOutcome } from '../telemetry/metrics/job-metrics.ts';
import { maskText } from '../telemetry/redact.ts';
import type { JobTracer } from '../telemetry/tracing/tracing.ts';
import type { JobRun } from './define-jobs.ts';
import { type JobEnvelope, readEnvelope, senderOf } from './job-envelope.ts';
import { endingMs, type JobPlan } from './job-plan.ts';
import type { TakenJob } from './job-store.ts';

/** The observers of runs. */
export interface JobWitnesses {
  readonly logger: Logger;
  readonly metrics: JobMetrics;
  readonly errors: ErrorReports;
  readonly tracer: JobTracer;
}

/** How a run ended, and why where it failed. */
export interface RunResult {
  readonly outcome: JobOutcome;
  readonly reason?: string;
}

/** What nobody has sent. */
const nothing: JobEnvelope = { payload: undefined };

/**
 * Runs a job once, in a context of its own as a request has one: with an id, a trace, a deadline, one log line, metrics
 * and, when it fails, a report. One whose data is no envelope fails as any other does. Never rejects.
 *
 * @param shutdown aborted when the service shuts down; a run that fails then was aborted
 */
export async function runJob(
  plan: JobPlan,
  job: TakenJob,
  witnesses: JobWitnesses,
  shutdown: AbortSignal,
): Promise<RunResult> {
  const limit = new AbortController();
  const envelope = readEnvelope(job.data);
  const { traceparent, requestId: sentBy } = envelope ?? nothing;
  const context = contextOf(plan, AbortSignal.any([shutdown, limit.signal]), envelope ?? nothing);
  const endSpan = witnesses.tracer.begin(context, { ...job, name: plan.name, traceparent });
  const lagMs = Math.max(0, Date.now() - job.dueAt.getTime());
  witnesses.metrics.began(plan.name, lagMs / 1000, context.sampled ? context.traceId : undefined);
  const began = performance.now();
  return runWithRequestContext(context, async () => {
    const result = await workThrough(plan, job, { envelope, witnesses, context, shutdown, limit });
    const durationMs = Math.round(performance.now() - began);
    const { outcome } = result;
    endSpan(outcome);
    witnesses.metrics.ended(plan.name, outcome, durationMs / 1000, context.sampled ? context.traceId : undefined);
    const { attempt, id: jobId } = job;
    const line = { job: plan.name, jobId, attempt, outcome, durationMs, lagMs, sentBy };
    witnesses.logger.info(line, outcome === 'dead' ? 'job failed for the last time' : `job ${outcome}`);
    return result;
  });
}

function contextOf(
  { name, timeLimitMs, principal: named }: JobPlan,
  signal: AbortSignal,
  data: JobEnvelope,
): Required<Pick<RequestContext, 'signal'>> & RequestContext {
  const deadline = Date.now() + timeLimitMs;
  const principal = named === 'sender' ? senderOf(data) : named;
  const caller = principal && { principal, userId: principal.userId };
  return { requestId: randomUUID(), method: 'JOB', url: name, startTime: new Date(), deadline, signal, ...caller };
}

interface Surroundings {
  readonly envelope: JobEnvelope | undefined;
  readonly witnesses: JobWitnesses;
  readonly context: ReturnType<typeof contextOf>;
  readonly shutdown: AbortSignal;
  /** Aborted at the time limit. */
  readonly limit: AbortController;
}

async function workThrough(
  plan: JobPlan,
  { id, attempt, dueAt }: TakenJob,
  { envelope, witnesses, context, shutdown, limit }: Surroundings,
): Promise<RunResult> {
  const { promise: overdue, reject } = Promise.withResolvers<never>();
  const timeUp = () => limit.abort(new DOMException(`The job ran for ${plan.timeLimitMs} ms`, 'TimeoutError'));
  const giveUp = () =>
    reject(new Error(`The job went on for ${endingMs} ms after its time limit of ${plan.timeLimitMs} ms`));
  const timers = [setTimeout(timeUp, plan.timeLimitMs), setTimeout(giveUp, plan.timeLimitMs + endingMs)];
  const run: JobRun = { id, attempt, dueAt, signal: context.signal };
  try {
    const work = async () => {
      if (!envelope) throw new Error('Expected the data of a job as this service stores it; another program may have.');
      await plan.work(envelope.payload as never, run);
    };
    await Promise.race([work(), overdue]);
    return { outcome: 'completed' };
  } catch (error) {
    const reason = maskText(error instanceof Error ? error.message : String(error));
    if (shutdown.aborted) return { outcome: 'aborted', reason };
    witnesses.errors.report(error, context, { job: plan.name, jobId: id, attempt });
    return { outcome: attempt >= plan.attempts ? 'dead' : 'failed', reason };
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}
