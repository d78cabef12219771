import { randomUUID } from 'node:crypto';
import { type RequestContext, runWithRequestContext } from '../context/request-context.ts';
import type { ErrorReports } from '../errors/reporters/error-reports.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { JobMetrics, JobOutcome } from '../telemetry/metrics/job-metrics.ts';
import { maskText } from '../telemetry/redact.ts';
import type { JobTracer } from '../telemetry/tracing/tracing.ts';
import type { JobRun } from './define-jobs.ts';
import { type JobEnvelope, senderOf } from './job-envelope.ts';
import { endingMs, type JobPlan } from './job-plan.ts';
import type { TakenJob } from './job-store.ts';

/** The observers of runs. */
export interface JobWitnesses {
  readonly logger: Logger;
  readonly metrics: JobMetrics;
  readonly errors: ErrorReports;
  readonly tracer: JobTracer;
}

/** A job that runs now. */
export type DueJob = Omit<TakenJob, 'data'> & { readonly data: JobEnvelope };

/** How a run ended, and why where it failed. */
export interface RunResult {
  readonly outcome: JobOutcome;
  readonly reason?: string;
}

/**
 * Runs a job once, in a context of its own as a request has one: with an id, a trace, a deadline, one log line, metrics
 * and, when it fails, a report. Never rejects.
 *
 * @param shutdown aborted when the service shuts down; a run that fails then was aborted
 */
export async function runJob(
  plan: JobPlan,
  job: DueJob,
  witnesses: JobWitnesses,
  shutdown: AbortSignal,
): Promise<RunResult> {
  const limit = new AbortController();
  const context = contextOf(plan, AbortSignal.any([shutdown, limit.signal]), job.data);
  const endSpan = witnesses.tracer.begin(context, { ...job, name: plan.name, traceparent: job.data.traceparent });
  const lagMs = Math.max(0, Date.now() - job.dueAt.getTime());
  witnesses.metrics.began(plan.name, lagMs / 1000, context.sampled ? context.traceId : undefined);
  const began = performance.now();
  return runWithRequestContext(context, async () => {
    const result = await workThrough(plan, job, { witnesses, context, shutdown, limit });
    const durationMs = Math.round(performance.now() - began);
    const { outcome } = result;
    endSpan(outcome);
    witnesses.metrics.ended(plan.name, outcome, durationMs / 1000, context.sampled ? context.traceId : undefined);
    const { attempt, id: jobId, data } = job;
    const line = { job: plan.name, jobId, attempt, outcome, durationMs, lagMs, sentBy: data.requestId };
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
  readonly witnesses: JobWitnesses;
  readonly context: ReturnType<typeof contextOf>;
  readonly shutdown: AbortSignal;
  /** Aborted at the time limit. */
  readonly limit: AbortController;
}

async function workThrough(
  plan: JobPlan,
  job: DueJob,
  { witnesses, context, shutdown, limit }: Surroundings,
): Promise<RunResult> {
  const { id, attempt, dueAt, data } = job;
  const { promise: overdue, reject } = Promise.withResolvers<never>();
  const timeUp = () => limit.abort(new DOMException(`The job ran for ${plan.timeLimitMs} ms`, 'TimeoutError'));
  const giveUp = () =>
    reject(new Error(`The job went on for ${endingMs} ms after its time limit of ${plan.timeLimitMs} ms`));
  const timers = [setTimeout(timeUp, plan.timeLimitMs), setTimeout(giveUp, plan.timeLimitMs + endingMs)];
  const run: JobRun = { id, attempt, dueAt, signal: context.signal };
  try {
    const work = async () => plan.work(data.payload as never, run);
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
