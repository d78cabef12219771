import { randomUUID } from 'node:crypto';
import { currentUnit } from '../database/client/current-work.ts';
import type { OrmClient } from '../database/client/orm-types.ts';
import {
  defaultLongestBackoffMs,
  type JobStore,
  type JobToStore,
  type QueueRules,
  rememberedSeconds,
  type TakenJob,
} from './job-store.ts';

/** What the store on SQLite is made of. */
export interface SqliteStoreOptions {
  readonly client: OrmClient;
  /** How long without a sign of life until a job is taken again. */
  readonly leaseSeconds: number;
}

/** What is asked of a client, or of the transaction of a unit of work. */
interface RawClient {
  $queryRawUnsafe(sql: string, ...values: unknown[]): Promise<Record<string, unknown>[]>;
  $executeRawUnsafe(sql: string, ...values: unknown[]): Promise<number>;
}

/** A job of an ordered queue is due when none of its key was stored before it and is not done. */
const isDue = `j.queue = ? AND j.state = 'waiting' AND j.run_at <= ? AND (j.policy <> 'ordered' OR NOT EXISTS (
  SELECT 1 FROM slipway_jobs b WHERE b.queue = j.queue AND b.key = j.key AND b.seq < j.seq AND b.state IN ('waiting', 'running')))`;

/** Jobs in a table of an embedded SQLite, with the same promises as on PostgreSQL; they survive the process. */
export class SqliteStore implements JobStore {
  readonly #client: OrmClient;
  readonly #leaseMs: number;
  readonly #queues = new Map<string, QueueRules>();

  constructor({ client, leaseSeconds }: SqliteStoreOptions) {
    this.#client = client;
    this.#leaseMs = leaseSeconds * 1000;
  }

  async open(queues: readonly QueueRules[]): Promise<void> {
    for (const queue of queues) this.#queues.set(queue.name, queue);
    await this.#bare.$queryRawUnsafe('SELECT 1 FROM slipway_jobs LIMIT 1');
  }

  async store(queue: string, jobs: readonly JobToStore[]): Promise<void> {
    const { policy } = this.#rules(queue);
    for (const { data, id = randomUUID(), runAt, key = null } of jobs) {
      const values = [id, queue, policy, key, JSON.stringify(data ?? null), runAt?.getTime() ?? Date.now()];
      const columns = 'id, queue, policy, key, data, run_at';
      const sql = `INSERT INTO slipway_jobs (${columns}) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
      await this.#ambient.$executeRawUnsafe(sql, ...values);
    }
  }

  async take(queue: string, count: number): Promise<TakenJob[]> {
    const now = Date.now();
    const { expiryMs } = this.#rules(queue);
    const rows = await this.#bare.$queryRawUnsafe(
      `UPDATE slipway_jobs SET state = 'running', attempt = attempt + 1, lease_until = ?, expires_at = ?
       WHERE seq IN (SELECT j.seq FROM slipway_jobs j WHERE ${isDue} ORDER BY j.run_at, j.seq LIMIT ?)
       RETURNING id, data, attempt, run_at`,
      now + this.#leaseMs,
      now + expiryMs,
      queue,
      now,
      count,
    );
    return rows.map(({ id, data, attempt, run_at: runAt }) => ({
      id: String(id),
      queue,
      data: JSON.parse(String(data)),
      attempt: Number(attempt),
      dueAt: new Date(Number(runAt)),
    }));
  }

  async complete(job: TakenJob): Promise<void> {
    await this.#settle(job, "state = 'done', ended_at = ?", [Date.now()]);
  }

  async fail(job: TakenJob, reason: string): Promise<void> {
    await this.#settle(job, ...this.#afterFailure(job.queue, job.attempt, reason));
  }

  async extend(jobs: readonly TakenJob[]): Promise<void> {
    for (const job of jobs) await this.#settle(job, 'lease_until = ?', [Date.now() + this.#leaseMs]);
  }

  async recover(): Promise<void> {
    const now = Date.now();
    const lost = await this.#bare.$queryRawUnsafe(
      "SELECT id, queue, attempt FROM slipway_jobs WHERE state = 'running' AND (lease_until < ? OR expires_at < ?)",
      now,
      now,
    );
    for (const row of lost) {
      const job = { id: String(row['id']), queue: String(row['queue']), attempt: Number(row['attempt']) };
      // A queue that this service no longer has keeps its jobs.
      if (!this.#queues.has(job.queue)) continue;
      await this.#settle(job, ...this.#afterFailure(job.queue, job.attempt, 'no sign of life from its replica'));
    }
    await this.#bare.$executeRawUnsafe(
      "DELETE FROM slipway_jobs WHERE (state = 'done' AND ended_at < ?) OR (state = 'dead' AND ended_at < ?)",
      now - rememberedSeconds.done * 1000,
      now - rememberedSeconds.dead * 1000,
    );
  }

  async overdue(queues: readonly string[]): Promise<ReadonlyMap<string, Date>> {
    const oldest = new Map<string, Date>();
    const now = Date.now();
    for (const queue of queues) {
      const sql = `SELECT j.run_at FROM slipway_jobs j WHERE ${isDue} ORDER BY j.run_at LIMIT 1`;
      const [row] = await this.#bare.$queryRawUnsafe(sql, queue, now);
      if (row) oldest.set(queue, new Date(Number(row['run_at'])));
    }
    return oldest;
  }

  revive(queue: string): Promise<number> {
    return this.#bare.$executeRawUnsafe(
      "UPDATE OR IGNORE slipway_jobs SET state = 'waiting', attempt = 0, ended_at = NULL, run_at = ? WHERE queue = ? AND state = 'dead'",
      Date.now(),
      queue,
    );
  }

  async close(): Promise<void> {
    // The client is the service's, which closes it.
  }

  /** Outside of any unit of work. */
  get #bare(): RawClient {
    return this.#client as unknown as RawClient;
  }

  /** Inside of the unit of work that surrounds the caller, if there is one. */
  get #ambient(): RawClient {
    return (currentUnit(this.#client)?.transaction ?? this.#client) as unknown as RawClient;
  }

  #rules(queue: string): QueueRules {
    const rules = this.#queues.get(queue);
    if (rules) return rules;
    throw new Error(`Expected a queue of this service, found ${queue}.`);
  }

  #afterFailure(queue: string, attempt: number, reason: string): [change: string, values: unknown[]] {
    const { attempts, backoffMs, longestBackoffMs = defaultLongestBackoffMs } = this.#rules(queue);
    const now = Date.now();
    if (attempt >= attempts) return ["state = 'dead', ended_at = ?, reason = ?", [now, reason]];
    const pause = Math.min(longestBackoffMs, backoffMs * 2 ** Math.min(attempt - 1, 16)) * (1 + Math.random()) * 0.5;
    return ["state = 'waiting', run_at = ?, reason = ?", [now + Math.round(pause), reason]];
  }

  /** Names the attempt too, so that a process which lost its lease settles nothing. */
  async #settle({ id, queue, attempt }: Omit<TakenJob, 'data' | 'dueAt'>, change: string, values: unknown[]) {
    const sql = `UPDATE slipway_jobs SET ${change} WHERE queue = ? AND id = ? AND attempt = ? AND state = 'running'`;
    await this.#bare.$executeRawUnsafe(sql, ...values, queue, id, attempt);
  }
}
