import { labelText, type MetricFamily } from './metric-family.ts';

/** Why a connection is cut: its client reads nothing, its answers are over the budget, it pipelines too much, its body comes in too many small chunks, it gives way to a client with fewer, or it waits for its client while memory is short. */
export type CutReason = 'stalled' | 'budget' | 'pipelined' | 'chunks' | 'displaced' | 'memory';

/** The limit that a new connection is beyond: of all connections, of those of its address, or of pipelined requests that an address gives up. */
export type RefusedBy = 'total' | 'address' | 'pipelined';

/** Connections of the public port: those that are open, and what was refused or cut of them. */
export class ConnectionMetrics {
  readonly #refused: Record<RefusedBy, number> = { total: 0, address: 0, pipelined: 0 };
  readonly #cut: Record<CutReason, number> = {
    stalled: 0,
    budget: 0,
    pipelined: 0,
    chunks: 0,
    displaced: 0,
    memory: 0,
  };
  #open: (() => number) | undefined;

  /** Counts one connection that was refused, by the limit that it was beyond. */
  refused(limit: RefusedBy): void {
    this.#refused[limit] += 1;
  }

  /** Counts one connection that was cut. */
  cut(reason: CutReason): void {
    this.#cut[reason] += 1;
  }

  /** Has the number of open connections be shown. */
  watch(open: () => number): void {
    this.#open = open;
  }

  get families(): MetricFamily[] {
    return [
      {
        name: 'http_connections_open',
        help: 'Connections of clients that are open.',
        type: 'gauge',
        samples: () => (this.#open ? [{ labels: '', value: this.#open() }] : []),
      },
      {
        name: 'http_connections_refused_total',
        help: 'Connections closed at once because too many were open, in total or from one address, or because their client had given up too many pipelined requests.',
        type: 'counter',
        samples: () => Object.entries(this.#refused).map(([limit, value]) => ({ labels: labelText({ limit }), value })),
      },
      {
        name: 'http_connections_cut_total',
        help: 'Connections cut: the client read nothing (stalled), unread answers took too much memory (budget), too many requests were pipelined, a body came in too many small chunks (chunks), a client with fewer got the place of one (displaced), or they waited for their clients while memory was short (memory).',
        type: 'counter',
        samples: () => Object.entries(this.#cut).map(([reason, value]) => ({ labels: labelText({ reason }), value })),
      },
    ];
  }
}
