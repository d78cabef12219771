import type { MetricFamily } from './metric-family.ts';
import { type SeriesLimit, SeriesMap } from './series.ts';

const limited = 'http_requests_rate_limited_total';

/** What the service refused in order to live. */
export class OverloadMetrics {
  readonly #limited: SeriesMap<{ value: number }>;
  #shed = 0;
  #concurrencyLimit: (() => number) | undefined;

  constructor(limit: SeriesLimit) {
    this.#limited = new SeriesMap(limited, ['policy'], limit, () => ({ value: 0 }));
  }

  /** Counts one request that was refused for overload. */
  shed(): void {
    this.#shed += 1;
  }

  /** Counts one request that was beyond a rate limit. */
  limited(policy: string): void {
    const count = this.#limited.of(policy);
    if (count) count.value += 1;
  }

  /** Has the limit of requests at work be shown. */
  watch(concurrencyLimit: () => number): void {
    this.#concurrencyLimit = concurrencyLimit;
  }

  get families(): MetricFamily[] {
    return [
      {
        name: 'http_requests_shed_total',
        help: 'Requests refused with 503 because the service was overloaded.',
        type: 'counter',
        samples: () => [{ labels: '', value: this.#shed }],
      },
      {
        name: limited,
        help: 'Requests refused with 429, by the name of the rate limit.',
        type: 'counter',
        samples: () => [...this.#limited].map(([labels, { value }]) => ({ labels, value })),
      },
      {
        name: 'http_requests_concurrency_limit',
        help: 'Requests that may be at work at once, as of now; more are refused.',
        type: 'gauge',
        samples: () => (this.#concurrencyLimit ? [{ labels: '', value: this.#concurrencyLimit() }] : []),
      },
    ];
  }
}
