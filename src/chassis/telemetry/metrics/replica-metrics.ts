import type { MetricFamily, Sample } from './metric-family.ts';

const outcomes = ['replica', 'behind', 'busy', 'down', 'failed'] as const;

/** Where a list was read: from the replica, or why from the primary. */
export type ReplicaOutcome = (typeof outcomes)[number];

/** What a pool of connections tells of itself, as pg's does. */
export interface PoolCounts {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

/** What a replica tells of itself. */
export interface ReplicaState {
  /** Its connections; undefined until it was there once. */
  readonly pool: PoolCounts | undefined;
  readonly isUsed: boolean;
  readonly lagSeconds: number;
}

/** Reads of a replica, as the service sees them; nothing where there is none. */
export class ReplicaMetrics {
  readonly #replica: () => ReplicaState | undefined;
  readonly #counts = new Map<ReplicaOutcome, number>(outcomes.map((outcome) => [outcome, 0]));

  constructor(replica: () => ReplicaState | undefined) {
    this.#replica = replica;
  }

  /** Counts one list. */
  count(outcome: ReplicaOutcome): void {
    this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + 1);
  }

  get families(): MetricFamily[] {
    const where = ([outcome, value]: [string, number]) => ({ labels: `outcome="${outcome}"`, value });
    return [
      {
        name: 'database_replica_reads_total',
        help: 'Reads of lists by outcome: replica (read there), and read from the primary because the replica was behind, had no free connection (busy), was down or failed.',
        type: 'counter',
        samples: () => (this.#replica() ? [...this.#counts].map(where) : []),
      },
      {
        name: 'database_replica_used',
        help: 'Whether lists are read from the replica: 0 while it is down or more than a second behind.',
        type: 'gauge',
        samples: () => this.#of(({ isUsed }) => Number(isUsed)),
      },
      {
        name: 'database_replica_lag_seconds',
        help: 'For how long the replica has lacked something that the primary had.',
        type: 'gauge',
        samples: () => this.#of(({ lagSeconds }) => lagSeconds),
      },
    ];
  }

  #of(value: (replica: ReplicaState) => number): Sample[] {
    const replica = this.#replica();
    return replica ? [{ labels: '', value: value(replica) }] : [];
  }
}
