import type { Pool } from 'pg';
import { type Db, PgBoss, type Queue, type QueueResult } from 'pg-boss';
import { currentUnit } from '../database/client/current-work.ts';
import type { OrmClient } from '../database/client/orm-types.ts';
import type { Logger } from '../telemetry/logger.ts';
import {
  defaultLongestBackoffMs,
  type JobStore,
  type JobToStore,
  type QueueRules,
  rememberedSeconds,
  type TakenJob,
} from './job-store.ts';
import { bossOptions, oldestDueSql, postgresTarget } from './pg-boss-database.ts';

/** What the store on PostgreSQL is made of. */
export interface PgBossStoreOptions {
  readonly client: OrmClient;
  readonly pool: Pool;
  readonly databaseUrl: string;
  /** How long without a sign of life until a job is given to another replica. */
  readonly leaseSeconds: number;
  readonly logger: Logger;
}

const policies = { standard: 'standard', single: 'exclusive', ordered: 'key_strict_fifo' } as const;

/** Jobs on PostgreSQL, kept by pg-boss on the connections of the service. */
export class PgBossStore implements JobStore {
  readonly #boss: PgBoss;
  readonly #client: OrmClient;
  readonly #leaseSeconds: number;
  readonly #pool: Pool;
  readonly #oldestDueSql: string;

  constructor({ client, pool, databaseUrl, leaseSeconds, logger }: PgBossStoreOptions) {
    this.#client = client;
    this.#leaseSeconds = leaseSeconds;
    this.#pool = pool;
    this.#oldestDueSql = oldestDueSql(postgresTarget(databaseUrl));
    // Every replica asks three times per lease, and one of them does it.
    const monitorIntervalSeconds = Math.max(1, Math.floor(leaseSeconds / 3));
    this.#boss = new PgBoss({ ...bossOptions(pool, postgresTarget(databaseUrl)), monitorIntervalSeconds });
    this.#boss.on('error', (err) => logger.warn({ err }, 'job maintenance failed'));
    this.#boss.on('warning', ({ message }) => logger.warn({ reason: message }, 'job backlog growing'));
  }

  async open(queues: readonly QueueRules[]): Promise<void> {
    await this.#boss.start();
    const names = queues.flatMap(({ name }) => [name, deadQueue(name)]);
    const found = new Map((await this.#boss.getQueues(names)).map((queue) => [queue.name, queue]));
    for (const queue of queues) await this.#openQueue(queue, found);
  }

  async store(queue: string, jobs: readonly JobToStore[]): Promise<void> {
    const { transaction = this.#client } = currentUnit(this.#client) ?? {};
    const db = onOrm(transaction);
    for (const { data, id, runAt, key } of jobs) {
      const options = { db, ...(id && { id }), ...(runAt && { startAfter: runAt }), ...(key && { singletonKey: key }) };
      await this.#boss.send(queue, data as object, options);
    }
  }

  async take(queue: string, count: number): Promise<TakenJob[]> {
    const jobs = await this.#boss.fetch(queue, { batchSize: count, includeMetadata: true });
    return jobs.map(({ id, data, retryCount, startAfter }) => ({
      id,
      queue,
      data,
      attempt: retryCount + 1,
      dueAt: new Date(startAfter),
    }));
  }

  async complete(job: TakenJob): Promise<void> {
    await this.#boss.complete(job.queue, claimOf(job));
  }

  async fail(job: TakenJob, reason: string): Promise<void> {
    await this.#boss.fail(job.queue, claimOf(job), { message: reason });
  }

  async extend(jobs: readonly TakenJob[]): Promise<void> {
    for (const [queue, taken] of Map.groupBy(jobs, (job) => job.queue)) {
      await this.#boss.touch(queue, taken.map(claimOf));
    }
  }

  async recover(): Promise<void> {
    await this.#boss.supervise();
  }

  async overdue(queues: readonly string[]): Promise<ReadonlyMap<string, Date>> {
    const { rows } = await this.#pool.query<{ name: string; due: Date }>(this.#oldestDueSql, [queues]);
    return new Map(rows.map(({ name, due }) => [name, due]));
  }

  revive(queue: string): Promise<number> {
    return this.#boss.redrive(deadQueue(queue));
  }

  async close(): Promise<void> {
    await this.#boss.stop({ graceful: false });
  }

  /** @param found the queues that are there: most are as they should be, and each question would make the start longer */
  async #openQueue(
    { name, policy, attempts, backoffMs, expiryMs, ...rules }: QueueRules,
    found: ReadonlyMap<string, QueueResult>,
  ): Promise<void> {
    const { longestBackoffMs = defaultLongestBackoffMs } = rules;
    const options: Omit<Queue, 'name' | 'policy'> = {
      retryLimit: attempts - 1,
      retryDelay: Math.ceil(backoffMs / 1000),
      retryBackoff: backoffMs > 0,
      ...(backoffMs > 0 && { retryDelayMax: longestBackoffMs / 1000 }),
      expireInSeconds: Math.min(Math.ceil(expiryMs / 1000), longestExpirySeconds),
      heartbeatSeconds: this.#leaseSeconds,
      retentionSeconds: rememberedSeconds.dead,
      deleteAfterSeconds: rememberedSeconds.done,
    };
    if (policy !== 'ordered') {
      options.deadLetter = deadQueue(name);
      await this.#makeQueue(deadQueue(name), { retentionSeconds: rememberedSeconds.dead }, found);
    }
    const opened = await this.#makeQueue(name, { ...options, policy: policies[policy] }, found);
    if (opened?.policy === policies[policy]) return;
    throw new Error(
      `Expected the queue ${name} to be ${policies[policy]}, found ${opened?.policy}: a job of this name was of another kind before. Rename it.`,
    );
  }

  async #makeQueue(
    name: string,
    options: Omit<Queue, 'name'>,
    found: ReadonlyMap<string, QueueResult>,
  ): Promise<QueueResult | null> {
    const known = found.get(name);
    if (known !== undefined && isSame(known, options)) return known;
    // Creating a queue that is there changes nothing, also where another replica does at the same time; its policy stays.
    await this.#boss.createQueue(name, options);
    const { policy, ...rules } = options;
    await this.#boss.updateQueue(name, rules);
    return this.#boss.getQueue(name);
  }
}

function isSame(known: QueueResult, options: Omit<Queue, 'name'>): boolean {
  return Object.entries(options).every(([name, value]) => known[name as keyof QueueResult] === value);
}

/** A day, less a second: the most that pg-boss takes. */
const longestExpirySeconds = 86_399;

function deadQueue(queue: string): string {
  return `${queue}/dead`;
}

/** Names the attempt too, so that a replica which lost its lease settles nothing. */
function claimOf({ id, attempt }: TakenJob): { id: string; retryCount: number } {
  return { id, retryCount: attempt - 1 };
}

/** Has what pg-boss stores be part of the unit of work, and its failures exceptions of the chassis. */
function onOrm(client: OrmClient): Db {
  const bare = client as unknown as { $queryRawUnsafe(text: string, ...values: unknown[]): Promise<unknown[]> };
  return { executeSql: async (text, values = []) => ({ rows: await bare.$queryRawUnsafe(text, ...values) }) };
}
