import { labelText, type MetricFamily } from './metric-family.ts';

/** How many label combinations a metric keeps at most, and how many observations were left out for it. */
export class SeriesLimit {
  readonly limit: number;
  readonly #dropped = new Map<string, number>();

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Has a metric appear among those that dropped something, with 0. */
  watch(metric: string): void {
    this.#dropped.set(metric, 0);
  }

  /** Counts one observation that its metric left out. */
  drop(metric: string): void {
    this.#dropped.set(metric, (this.#dropped.get(metric) ?? 0) + 1);
  }

  /** What was left out, as a metric. */
  get family(): MetricFamily {
    return {
      name: 'metrics_series_dropped_total',
      help: 'Observations left out because their metric had METRICS_SERIES_LIMIT label combinations already.',
      type: 'counter',
      samples: () => [...this.#dropped].map(([metric, value]) => ({ labels: labelText({ metric }), value })),
    };
  }
}

/**
 * The series of one metric: one `S` for each combination of label values, made when it is first asked for. Gives them with
 * their labels as text, which is written once.
 */
export class SeriesMap<S> implements Iterable<[labels: string, series: S]> {
  readonly #metric: string;
  readonly #labelNames: readonly string[];
  readonly #limit: SeriesLimit;
  readonly #make: () => S;
  readonly #series = new Map<string, [labels: string, series: S]>();

  constructor(metric: string, labelNames: readonly string[], limit: SeriesLimit, make: () => S) {
    this.#metric = metric;
    this.#labelNames = labelNames;
    this.#limit = limit;
    this.#make = make;
    limit.watch(metric);
  }

  /**
   * The series of these label values, in the order of the names. Undefined, and counted as dropped, where the metric has
   * as many as it may have; then nothing of the values is kept. Who observes often keeps the series that it got.
   */
  of(...values: readonly string[]): S | undefined {
    const key = values.join('\n');
    const known = this.#series.get(key);
    if (known) return known[1];
    if (this.#series.size >= this.#limit.limit) {
      this.#limit.drop(this.#metric);
      return undefined;
    }
    const series = this.#make();
    const labels = Object.fromEntries(this.#labelNames.map((name, index) => [name, values[index] ?? '']));
    this.#series.set(key, [labelText(labels), series]);
    return series;
  }

  [Symbol.iterator](): Iterator<[labels: string, series: S]> {
    return this.#series.values();
  }
}
