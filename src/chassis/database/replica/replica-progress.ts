import { setTimeout as wait } from 'node:timers/promises';
import { parseDatabaseUrl } from '../client/database-url.ts';
import { ReplicaLag } from './replica-lag.ts';
import { ServerQuestion } from './server-question.ts';

/** Between two questions of whether the replica has caught up. */
const pauseMs = 2;

/** All that is committed and visible: without waiting for the disk a transaction is visible before its log is there. */
const askPrimary = `SELECT CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn()
  ELSE pg_current_wal_flush_lsn() END - '0/0'::pg_lsn AS position`;

/** One that has lost its primary for good may have a later position of another history. */
const askReplica = `SELECT pg_is_in_recovery() AS "isReplica", (SELECT pid FROM pg_stat_wal_receiver) IS NOT NULL AS streams,
  pg_last_wal_replay_lsn() - '0/0'::pg_lsn AS position, pg_postmaster_start_time()::text AS server`;

interface ReplicaAnswer {
  readonly isReplica: boolean;
  readonly streams: boolean;
  readonly position: string | null;
  /** Tells servers apart. */
  readonly server: string;
}

/** Positions in the log of a primary, and how far its replica has replayed it, each asked over a connection of its own. */
export class ReplicaProgress {
  readonly lag = new ReplicaLag();
  readonly #primary: ServerQuestion<{ position: string }>;
  readonly #replica: ServerQuestion<ReplicaAnswer>;
  #server: string | undefined;
  #replayed = 0n;

  /** @throws Error where one of the URLs is not of PostgreSQL */
  constructor(primaryUrl: string, replicaUrl: string) {
    this.#primary = new ServerQuestion(stringOf(primaryUrl), askPrimary);
    this.#replica = new ServerQuestion(stringOf(replicaUrl), askReplica);
  }

  /** Which server the replica is, as of the last answer; what another one has replayed is not known. */
  get server(): string | undefined {
    return this.#server;
  }

  /** What the replica has replayed, as of the last answer. */
  get replayed(): bigint {
    return this.#replayed;
  }

  /** Where the primary is at the call or later: all that was committed before is before it. @throws what the driver raises */
  async ofPrimary(): Promise<bigint> {
    const { position } = await this.#primary.ask();
    return BigInt(position);
  }

  /** Connects to the primary, unless it is connected. @throws what the driver raises */
  async lookAtPrimary(): Promise<bigint> {
    await this.#primary.connect();
    const position = await this.ofPrimary();
    this.lag.primaryAt(position, performance.now());
    return position;
  }

  /** Connects to the replica, unless it is connected. @throws what the driver raises, and Error where it is no replica */
  async lookAtReplica(): Promise<void> {
    await this.#replica.connect();
    await this.#ask();
  }

  /** Waits until the replica has replayed this, within a time. @throws as `lookAtReplica` */
  async reaches(position: bigint, withinMs: number): Promise<boolean> {
    const until = performance.now() + withinMs;
    for (;;) {
      await atMost(this.#ask(), until - performance.now());
      if (this.#replayed >= position) return true;
      if (performance.now() + pauseMs >= until) return false;
      await wait(pauseMs);
    }
  }

  /** Forgets the replica, and ends the connection that asks it: the next one may lead to another server. */
  leaveReplica(): void {
    this.#server = undefined;
    this.#replayed = 0n;
    this.#replica.close();
  }

  /** Ends both connections. */
  close(): void {
    this.#primary.close();
    this.leaveReplica();
  }

  async #ask(): Promise<void> {
    const { isReplica, streams, position, server } = await this.#replica.ask();
    if (!isReplica || position === null) throw new Error('it is no streaming replica');
    if (!streams) throw new Error('it receives nothing from a primary');
    this.#server = server;
    this.#replayed = BigInt(position);
    this.lag.replicaAt(this.#replayed);
  }
}

function stringOf(url: string): string {
  const target = parseDatabaseUrl(url);
  if (target.provider === 'postgresql') return target.connectionString;
  throw new Error('Expected DATABASE_URL and DATABASE_READ_URL to be PostgreSQL, found SQLite.');
}

/** Waits for work, but not for longer than this. @throws what the work raises in time */
export async function atMost(work: Promise<void>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.max(0, ms));
  try {
    await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    // Who gave up waiting hears no more of it.
    work.catch(() => undefined);
  }
}
