import type { Principal } from '../context/principal.ts';
import { nearMisses } from '../errors/near-misses.ts';
import type { JobDefinition, JobRun, RunOptions, ScheduleOptions } from './define-jobs.ts';
import { durationMs } from './duration.ts';
import { cronSchedule, intervalSchedule, type JobSchedule } from './job-schedule.ts';
import type { QueueRules } from './job-store.ts';

/** A valid job: its name, when and how it runs. */
export interface JobPlan extends QueueRules {
  readonly module: string;
  /** `each`: every replica runs it by its own clock, and nothing is stored. */
  readonly replicas: 'one' | 'each';
  /** Undefined for jobs that are sent. */
  readonly schedule: JobSchedule | undefined;
  /** The event that it handles. */
  readonly event: string | undefined;
  readonly timeLimitMs: number;
  readonly jitterMs: number;
  /** Runs at once in this replica; undefined is as many as there are places. */
  readonly concurrency: number | undefined;
  /** Who acts in a run; undefined is nobody. */
  readonly principal: Principal | 'sender' | undefined;
  readonly work: (data: never, run: JobRun) => unknown;
}

/** A declaration and the file that it stands in. */
export interface FoundJob {
  readonly module: string;
  /** Module and file, for messages. */
  readonly from: string;
  readonly definition: JobDefinition;
}

/** After its time limit a run has this long to end, in milliseconds, before it has failed. */
export const endingMs = 10_000;

const defaults = { timeLimit: '5m', backoff: '10s', scheduledAttempts: 3, sentAttempts: 5, longestJitterMs: 30_000 };
const longestLimitMs = 23 * 3_600_000;
const form = /^[a-z][a-z0-9]*([.-][a-z0-9]+)*$/;

/**
 * Makes plans of what modules declare.
 *
 * @param events the names of all declared events
 * @returns the plans, and a sentence for each invalid declaration
 */
export async function planJobs(
  found: readonly FoundJob[],
  events: readonly string[],
): Promise<{ plans: JobPlan[]; problems: string[] }> {
  const plans: JobPlan[] = [];
  const problems: string[] = [];
  const from = new Map<string, string>();
  for (const job of found) {
    const told: string[] = [];
    const plan = await planOf(job, events, (problem) => told.push(`${job.from}: ${problem}`));
    const twin = from.get(plan.name);
    if (twin !== undefined)
      told.push(`${job.from}: expected each name once, found ${plan.name} in ${twin} too${twinHint(job)}`);
    from.set(plan.name, job.from);
    plans.push(plan);
    problems.push(...told);
  }
  return { plans, problems };
}

type Tell = (problem: string) => void;

async function planOf({ module, definition }: FoundJob, events: readonly string[], tell: Tell): Promise<JobPlan> {
  const { kind, options } = definition;
  const name = nameOf(definition, module);
  const scheduled = kind === 'every' || kind === 'cron';
  const { replicas = 'one', jitter }: ScheduleOptions = scheduled ? options : {};
  if (!form.test(name) || name.length > 100) {
    tell(`expected a name of lower-case words joined by - or ., such as expire-drafts; found "${name}"`);
  }
  if (kind === 'on' && !events.includes(definition.event)) tell(unknownEvent(definition.event, events));
  const interval =
    kind === 'every' ? (read(definition.interval, `the interval of ${name}`, tell, 100) ?? 1000) : undefined;
  const timing = timingOf(name, options, scheduled, tell);
  if (replicas === 'each' && options.attempts !== undefined) {
    tell(
      `expected no attempts of ${name}, which each replica runs by itself; leave them out, or let one replica run it`,
    );
  }
  const concurrency = 'concurrency' in options ? options.concurrency : undefined;
  if (concurrency !== undefined && !(Number.isInteger(concurrency) && concurrency >= 1)) {
    tell(`expected concurrency of ${name} to be a whole number from 1, found ${concurrency}`);
  }
  return {
    name,
    module,
    replicas,
    ...timing,
    ...(replicas === 'each' && { attempts: 1 }),
    policy: scheduled ? 'single' : 'standard',
    schedule: interval === undefined ? await calendarOf(definition, tell) : intervalSchedule(name, interval),
    event: kind === 'on' ? definition.event : undefined,
    jitterMs:
      jitter === undefined
        ? Math.min(defaults.longestJitterMs, (interval ?? 0) / 10)
        : (read(jitter, `jitter of ${name}`, tell) ?? 0),
    concurrency,
    principal: options.principal,
    work: definition.work,
  };
}

function nameOf(definition: JobDefinition, module: string): string {
  if (definition.kind !== 'on') return definition.name;
  return `${definition.event}.${definition.options.name ?? module}`;
}

function timingOf(name: string, options: RunOptions, scheduled: boolean, tell: Tell) {
  const { timeLimit = defaults.timeLimit, backoff = defaults.backoff } = options;
  const { attempts = scheduled ? defaults.scheduledAttempts : defaults.sentAttempts } = options;
  if (!(Number.isInteger(attempts) && attempts >= 1 && attempts <= 1000)) {
    tell(`expected attempts of ${name} to be a whole number from 1 to 1000, found ${attempts}`);
  }
  const timeLimitMs = read(timeLimit, `timeLimit of ${name}`, tell, 1, longestLimitMs) ?? 1;
  const backoffMs = read(backoff, `backoff of ${name}`, tell) ?? 0;
  return { attempts, timeLimitMs, backoffMs, expiryMs: timeLimitMs + 6 * endingMs };
}

async function calendarOf(definition: JobDefinition, tell: Tell): Promise<JobSchedule | undefined> {
  if (definition.kind !== 'cron') return undefined;
  const { expression, name, options } = definition;
  try {
    return await cronSchedule(expression, options.timeZone);
  } catch (error) {
    const zone = options.timeZone === undefined ? '' : ` in ${options.timeZone}`;
    tell(
      `expected a cron expression for ${name}, such as "0 3 * * *", found "${expression}"${zone}: ${(error as Error).message}`,
    );
    return undefined;
  }
}

/** A duration in milliseconds; tells of one that is none or out of its bounds. */
function read(text: string, what: string, tell: Tell, least = 0, most = Number.POSITIVE_INFINITY): number | undefined {
  const ms = durationMs(text);
  if (ms !== undefined && ms >= least && ms <= most) return ms;
  const bounds = most === Number.POSITIVE_INFINITY ? `from ${least}ms` : `from ${least}ms to ${most / 3_600_000}h`;
  tell(`expected ${what} to be a whole number and ms, s, m, h or d, such as 30s, ${bounds}; found "${text}"`);
  return undefined;
}

function unknownEvent(event: string, events: readonly string[]): string {
  const near = nearMisses(event, events);
  const known = events.length === 0 ? 'none is declared' : `declared are ${events.join(', ')}`;
  const hint = near.length > 0 ? `is ${near.join(' or ')} meant?` : `${known}; declare it in an <x>.events.ts`;
  return `expected an event that a module declares, found "${event}": ${hint}`;
}

function twinHint({ definition }: FoundJob): string {
  return definition.kind === 'on' ? '; give one of the handlers a name in its options' : '; rename one';
}
