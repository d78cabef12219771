/** How a queue hands out its jobs. */
export interface QueueRules {
  readonly name: string;
  /** `single`: one job is stored at a time, others are left out. `ordered`: those of one key run one after the other. */
  readonly policy: 'standard' | 'single' | 'ordered';
  readonly attempts: number;
  /** Milliseconds before the second attempt; doubled each time. */
  readonly backoffMs: number;
  /** The longest pause between two attempts, in milliseconds. Default: an hour. */
  readonly longestBackoffMs?: number;
  /** How long a run may take, in milliseconds, before the job is given to another. */
  readonly expiryMs: number;
}

/** What is stored of a job beside its rules. */
export interface JobToStore {
  readonly data: unknown;
  /** Default: a new one. One that the queue has or had within a day is not stored again. */
  readonly id?: string;
  /** Default: now. */
  readonly runAt?: Date;
  /** What an `ordered` queue orders by. */
  readonly key?: string;
}

/** A job that was taken to be run. */
export interface TakenJob {
  readonly id: string;
  readonly queue: string;
  readonly data: unknown;
  /** 1 for the first. */
  readonly attempt: number;
  readonly dueAt: Date;
}

/** Where jobs wait. Each taken job is leased to its replica, and given to another when no sign of life comes in time. */
export interface JobStore {
  /** Makes the queues known. Called once, before all else. */
  open(queues: readonly QueueRules[]): Promise<void>;
  /** Stores jobs, inside of a unit of work together with it. Does not say whether one was left out. */
  store(queue: string, jobs: readonly JobToStore[]): Promise<void>;
  /** Takes at most `count` jobs that are due. */
  take(queue: string, count: number): Promise<TakenJob[]>;
  /** Notes that a job is done; nothing where another replica has it by now. */
  complete(job: TakenJob): Promise<void>;
  /** Notes that an attempt failed: the job waits for the next, or is dead; nothing where another replica has it by now. */
  fail(job: TakenJob, reason: string): Promise<void>;
  /** Gives a sign of life for jobs that still run. */
  extend(jobs: readonly TakenJob[]): Promise<void>;
  /** Has the jobs of replicas that gave no sign of life wait again, and forgets what is long done. */
  recover(): Promise<void>;
  /** When the oldest job of each queue that waits was due; a queue where none is due is left out. */
  overdue(queues: readonly string[]): Promise<ReadonlyMap<string, Date>>;
  /** Has the dead jobs of a queue wait again, with all their attempts; says how many. */
  revive(queue: string): Promise<number>;
  close(): Promise<void>;
}

/** How long after its end a job is remembered, in seconds: done for a day, dead for 30. */
export const rememberedSeconds = { done: 86_400, dead: 30 * 86_400 };

/** Longest pause between two attempts where a queue has no other, in milliseconds. */
export const defaultLongestBackoffMs = 3_600_000;
