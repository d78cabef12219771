import type { Principal } from '../context/principal.ts';
import type { Duration } from './duration.ts';

declare global {
  namespace Slipway {
    /** The data of each queue job by its name; modules extend it, so that `jobs.send` and `job` are typed. */
    interface Jobs {}
    /** The data of each domain event by its name; each module's `<x>.events.ts` extends it. */
    interface Events {}
  }
}

/** One run of a job, as its work sees it. */
export interface JobRun {
  /** The same for all attempts of one job: a key under which its effects can be stored once. */
  readonly id: string;
  /** 1 for the first. */
  readonly attempt: number;
  /** When it should have begun. */
  readonly dueAt: Date;
  /** Aborted when the service shuts down and at the time limit. Work that ignores it is left behind. */
  readonly signal: AbortSignal;
}

/** How one run goes. */
export interface RunOptions {
  /** How long a run may take before `signal` is aborted; it has failed when it goes on for 10 s more. Default 5m. */
  readonly timeLimit?: Duration;
  /** How often a run is tried before the job is dead; 1 to 1000. A run whose replica died counts. */
  readonly attempts?: number;
  /** Pause before the second attempt; it doubles each time, up to an hour, and is random by half. Default 10s. */
  readonly backoff?: Duration;
}

/** How a job that is due by the clock runs. */
export interface ScheduleOptions extends RunOptions {
  /**
   * `one` replica runs it (the default; it needs a database) or `each` does. A run that is still under way when the next
   * one is due is not overtaken: that one is left out. With `each` there is one attempt.
   */
  readonly replicas?: 'one' | 'each';
  /** Each run begins later by a random part of this. Default: a tenth of the interval, at most 30s; none with `cron`. */
  readonly jitter?: Duration;
  /** Who acts in a run, such as a principal of the service itself with a role for it. Default: nobody. */
  readonly principal?: Principal;
}

/** As `ScheduleOptions`, by a calendar. */
export interface CronOptions extends ScheduleOptions {
  /** Name of the IANA time zone in which the expression is meant. Default UTC. */
  readonly timeZone?: string;
}

/** How jobs of a queue run. */
export interface QueueOptions extends RunOptions {
  /** Runs of this queue at once in each replica. Default and most: JOBS_CONCURRENCY. */
  readonly concurrency?: number;
  /** Who acts in a run: whoever sent the job, with roles and tenant of then, or this principal. Default: nobody. */
  readonly principal?: Principal | 'sender';
}

/** How a handler of an event runs. */
export interface HandlerOptions extends QueueOptions {
  /** Tells the handlers of one event in one module apart. Default: the module's name. */
  readonly name?: string;
}

/** A job as its module declares it. */
export type JobDefinition =
  | ({ readonly kind: 'every'; readonly name: string; readonly interval: string } & Declared<ScheduleOptions>)
  | ({ readonly kind: 'cron'; readonly name: string; readonly expression: string } & Declared<CronOptions>)
  | ({ readonly kind: 'job'; readonly name: string } & Declared<QueueOptions>)
  | ({ readonly kind: 'on'; readonly event: string } & Declared<HandlerOptions>);

interface Declared<Options> {
  readonly work: (data: never, run: JobRun) => unknown;
  readonly options: Options;
}

/** A jobs file's default export: makes the module's jobs from the container's cradle. */
export type JobsFactory = (cradle: Slipway.Cradle) => readonly JobDefinition[];

type Name<T> = keyof T & string;

/** Declares the jobs of a module, as the default export of its `<x>.jobs.ts`. The cradle is typed. */
export function defineJobs(factory: JobsFactory): JobsFactory {
  return factory;
}

/** Work that is done again and again, such as `every('30s', 'expire-drafts', ({ signal }) => …)`. Default 3 attempts. */
export function every(
  interval: Duration,
  name: string,
  work: (run: JobRun) => unknown,
  options: ScheduleOptions = {},
): JobDefinition {
  return { kind: 'every', name, interval, work: (_data, run) => work(run), options };
}

/**
 * Work that is done at the times of a calendar, such as `cron('0 3 * * *', 'nightly-report', …)`: minute, hour, day of the
 * month, month, day of the week, and before them seconds where there are six. A time at which no replica ran is left out.
 * Default 3 attempts.
 */
export function cron(
  expression: string,
  name: string,
  work: (run: JobRun) => unknown,
  options: CronOptions = {},
): JobDefinition {
  return { kind: 'cron', name, expression, work: (_data, run) => work(run), options };
}

/** Work on what `jobs.send(name, data)` stored, at least once. Its data is declared in `Slipway.Jobs`. Default 5 attempts. */
export function job<N extends Name<Slipway.Jobs>>(
  name: N,
  work: (data: Slipway.Jobs[N], run: JobRun) => unknown,
  options: QueueOptions = {},
): JobDefinition {
  return { kind: 'job', name, work: work as (data: never, run: JobRun) => unknown, options };
}

/** Work on what `events.emit(event, data)` stored, at least once. Default 5 attempts. */
export function on<N extends Name<Slipway.Events>>(
  event: N,
  work: (data: Slipway.Events[N], run: JobRun) => unknown,
  options: HandlerOptions = {},
): JobDefinition {
  return { kind: 'on', event, work: work as (data: never, run: JobRun) => unknown, options };
}
