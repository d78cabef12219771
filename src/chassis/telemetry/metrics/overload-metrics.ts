import { type MetricFamily, type SeriesLimit, SeriesMap } from './metric-family.ts';

const limited = 'http_requests_rate_limited_total';
const shed = 'http_requests_shed_total';
const shedReasons = ['wait', 'share', 'deadline', 'concurrency', 'timeout', 'expired', 'costly'] as const;

/**
 * Why a request is refused before it begins, or for `costly` once it is known what it costs, so that it is also among those that
 * are over; `timeout` waited to begin for longer than a request may take, and `expired`, whose deadline had passed when it came,
 * says nothing of the service.
 */
export type ShedReason = (typeof shedReasons)[number];

/** What a gate knows of those that it let in. */
interface Waits {
  /** How long one waits that comes now, in milliseconds. */
  waitMs(): number;
  /** How many have not begun. */
  waiting(): number;
}

/** What the service refused in order to live. */
export class OverloadMetrics {
  readonly #limited: SeriesMap<{ value: number }>;
  readonly #shed: Record<ShedReason, number> = {
    wait: 0,
    share: 0,
    deadline: 0,
    concurrency: 0,
    timeout: 0,
    expired: 0,
    costly: 0,
  };
  #waits: Waits | undefined;

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

  /** Shows what waits, and for how long; asked at each scrape. */
  watch(waits: Waits): void {
    this.#waits = waits;
  }

  get families(): MetricFamily[] {
    return [
      {
        name: shed,
        help: 'Requests refused for overload, by reason, with 503: wait, share, deadline, concurrency and timeout before they began, and costly once it was known what they cost; expired with 400.',
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
        help: 'How long a request that comes now waits for the event loop, to begin, and for the database.',
        type: 'gauge',
        samples: () => (this.#waits ? [{ labels: '', value: this.#waits.waitMs() / 1000 }] : []),
      },
      {
        name: 'http_requests_waiting',
        help: 'Requests that were let in and have not begun, because a long queue waits for the database.',
        type: 'gauge',
        samples: () => (this.#waits ? [{ labels: '', value: this.#waits.waiting() }] : []),
      },
    ];
  }
}
