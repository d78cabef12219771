import { type MetricFamily, type SeriesLimit, SeriesMap } from './metric-family.ts';

const limited = 'http_requests_rate_limited_total';
const shed = 'http_requests_shed_total';
const shedReasons = ['wait', 'share', 'deadline', 'concurrency', 'expired'] as const;

/** Why a request is refused before it begins; `expired`, whose deadline had passed when it came, says nothing of the service. */
export type ShedReason = (typeof shedReasons)[number];

/** What the service refused in order to live. */
export class OverloadMetrics {
  readonly #limited: SeriesMap<{ value: number }>;
  readonly #shed: Record<ShedReason, number> = { wait: 0, share: 0, deadline: 0, concurrency: 0, expired: 0 };
  #waitMs: (() => number) | undefined;

  constructor(limit: SeriesLimit) {
    this.#limited = new SeriesMap(limited, ['policy'], limit, () => ({ value: 0 }));
  }

  /** Counts one request that was refused for overload. */
  shed(reason: ShedReason): void {
    this.#shed[reason] += 1;
  }

  /** Counts one request that was beyond a rate limit. */
  limited(policy: string): void {
    const count = this.#limited.of(policy);
    if (count) count.value += 1;
  }

  /** Shows how long admitted work waits, in milliseconds; asked at each scrape. */
  watch(waitMs: () => number): void {
    this.#waitMs = waitMs;
  }

  get families(): MetricFamily[] {
    return [
      {
        name: shed,
        help: 'Requests refused before they began, by reason: wait, share, deadline and concurrency with 503, expired with 400.',
        type: 'counter',
        samples: () => shedReasons.map((reason) => ({ labels: `reason="${reason}"`, value: this.#shed[reason] })),
      },
      {
        name: limited,
        help: 'Requests refused with 429, by the name of the rate limit.',
        type: 'counter',
        samples: () => [...this.#limited].map(([labels, { value }]) => ({ labels, value })),
      },
      {
        name: 'http_requests_admission_wait_seconds',
        help: 'How long a request that comes now waits for the event loop and the database.',
        type: 'gauge',
        samples: () => (this.#waitMs ? [{ labels: '', value: this.#waitMs() / 1000 }] : []),
      },
    ];
  }
}
