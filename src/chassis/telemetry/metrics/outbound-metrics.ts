import { Histogram, labelText, type MetricFamily, type SeriesLimit, SeriesMap } from './metric-family.ts';

const secondsBuckets: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const retries = 'http_client_retries_total';
const states = { closed: 0, 'half open': 1, open: 2 } as const;

/** How an attempt ended: the class of its status, no answer in time, none at all, or not sent. */
export type CallResult = '2xx' | '3xx' | '4xx' | '5xx' | 'timeout' | 'error' | 'refused';

/** Calls of other services. */
export class OutboundMetrics {
  readonly #seconds: Histogram;
  readonly #retries: SeriesMap<{ value: number }>;
  readonly #breakers = new Map<string, keyof typeof states>();

  constructor(limit: SeriesLimit) {
    this.#seconds = new Histogram(
      {
        name: 'http_client_request_duration_seconds',
        help: 'Attempts to call another service, by client, method and status class, timeout, error or refused.',
        labels: ['client', 'method', 'status'],
        buckets: secondsBuckets,
      },
      limit,
    );
    this.#retries = new SeriesMap(retries, ['client', 'method'], limit, () => ({ value: 0 }));
  }

  /** Shows the circuit breaker of a client. */
  add(client: string): void {
    this.#breakers.set(client, 'closed');
  }

  /** Forgets the circuit breaker of a client. */
  remove(client: string): void {
    this.#breakers.delete(client);
  }

  /** Notes the state of a circuit breaker. */
  breaker(client: string, state: keyof typeof states): void {
    if (this.#breakers.has(client)) this.#breakers.set(client, state);
  }

  /** Counts one attempt, with its duration in seconds. */
  called(client: string, method: string, result: CallResult, seconds: number): void {
    this.#seconds.series.of(client, method, result)?.observe(seconds);
  }

  /** Counts one attempt that comes after a failed one. */
  retried(client: string, method: string): void {
    const count = this.#retries.of(client, method);
    if (count) count.value += 1;
  }

  get families(): MetricFamily[] {
    return [
      this.#seconds,
      {
        name: retries,
        help: 'Calls of another service that were tried again, by client and method.',
        type: 'counter',
        samples: () => [...this.#retries].map(([labels, { value }]) => ({ labels, value })),
      },
      {
        name: 'http_client_circuit_breaker_state',
        help: 'Circuit breaker of a client: 0 closed, 1 half open, 2 open.',
        type: 'gauge',
        samples: () =>
          [...this.#breakers].map(([client, state]) => ({ labels: labelText({ client }), value: states[state] })),
      },
    ];
  }
}
