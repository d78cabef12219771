import { Histogram, type MetricFamily, type Sample, type SeriesLimit } from './metric-family.ts';
import { type PoolCounts, ReplicaMetrics, type ReplicaOutcome, type ReplicaState } from './replica-metrics.ts';

const secondsBuckets: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** The database as the service sees it: connections, time of queries, reads that were shared. */
export class DatabaseMetrics {
  readonly #pool: () => PoolCounts | undefined;
  readonly #replica: () => ReplicaState | undefined;
  readonly #replicaReads: ReplicaMetrics;
  /** Time of operations, by model and operation. */
  readonly seconds: Histogram;
  #coalesced = 0;
  #pendingMigrations: number | undefined;
  readonly #leftToOrm = { shape: 0, failed: 0 };

  constructor(limit: SeriesLimit, pool: () => PoolCounts | undefined, replica: () => ReplicaState | undefined) {
    this.#pool = pool;
    this.#replica = replica;
    this.#replicaReads = new ReplicaMetrics(replica);
    this.seconds = new Histogram(
      {
        name: 'database_query_duration_seconds',
        help: 'Time of database operations as the service sees it, waiting for a connection included.',
        labels: ['model', 'operation'],
        buckets: secondsBuckets,
      },
      limit,
    );
  }

  /** Notes how many migrations of this version the database lacks, as readiness found. */
  lacksMigrations(count: number): void {
    this.#pendingMigrations = count;
  }

  /** Counts one read that was answered by an equal one. */
  coalesced(): void {
    this.#coalesced += 1;
  }

  /** Counts one read that the ORM did, because the reader of JSON does not know its shape or failed. */
  leftToOrm(reason: 'shape' | 'failed'): void {
    this.#leftToOrm[reason] += 1;
  }

  /** Counts one list by where it was read, and why not from the replica. */
  readFromReplica(outcome: ReplicaOutcome): void {
    this.#replicaReads.count(outcome);
  }

  get families(): MetricFamily[] {
    return [
      this.seconds,
      {
        name: 'database_reads_coalesced_total',
        help: 'Reads that were made by one beside them, an equal one or one of other single records, and asked nothing of the database by themselves.',
        type: 'counter',
        samples: () => [{ labels: '', value: this.#coalesced }],
      },
      {
        name: 'database_reads_left_to_orm_total',
        help: 'Reads that DATABASE_JSON_READS left to the ORM, by reason: shape (not known), failed.',
        type: 'counter',
        samples: () =>
          Object.entries(this.#leftToOrm).map(([reason, value]) => ({ labels: `reason="${reason}"`, value })),
      },
      {
        name: 'database_pool_connections',
        help: 'Open connections of the pool by state: in_use, idle; those to the replica with pool="replica". PostgreSQL only.',
        type: 'gauge',
        samples: () => this.#ofPools(connections),
      },
      {
        name: 'database_pool_waiting',
        help: 'Queries that wait for a connection. PostgreSQL only.',
        type: 'gauge',
        samples: () => this.#ofPools(waiting),
      },
      {
        name: 'database_migrations_pending',
        help: 'Migrations of this version that the database lacks, as readiness last found.',
        type: 'gauge',
        samples: () => (this.#pendingMigrations === undefined ? [] : [{ labels: '', value: this.#pendingMigrations }]),
      },
      ...this.#replicaReads.families,
    ];
  }

  #ofPools(samples: (pool: PoolCounts | undefined) => Sample[]): Sample[] {
    const ofReplica = samples(this.#replica()?.pool).map(({ labels, value }) => {
      return { labels: labels === '' ? 'pool="replica"' : `pool="replica",${labels}`, value };
    });
    return [...samples(this.#pool()), ...ofReplica];
  }
}

function connections(pool: PoolCounts | undefined): Sample[] {
  if (!pool) return [];
  return [
    { labels: 'state="in_use"', value: pool.totalCount - pool.idleCount },
    { labels: 'state="idle"', value: pool.idleCount },
  ];
}

function waiting(pool: PoolCounts | undefined): Sample[] {
  return pool ? [{ labels: '', value: pool.waitingCount }] : [];
}
