/** One line of a metric. */
export interface Sample {
  /** What follows the family's name, such as `_bucket`; nothing where it is left out. */
  suffix?: string;
  /** As `labelText` writes them, without braces. */
  labels: string;
  value: number;
  /** A request behind this number; printed in the OpenMetrics format only. Its time is in seconds since 1970. */
  exemplar?: { traceId: string; value: number; time: number } | undefined;
}

/**
 * A metric with all its series. `samples` is called at each scrape and only then: what a request does is count into
 * plain numbers. Names follow Prometheus: base units, and `_total` at the end of counters.
 */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  samples(): Sample[];
}

/** Labels as both formats write them: `method="GET",route="/users/:id"`. */
export function labelText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(
      ([name, value]) => `${name}="${value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')}"`,
    )
    .join(',');
}

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

/** The counts of one label combination. Observing costs some ten nanoseconds and allocates nothing. */
export class HistogramSeries {
  readonly #bounds: readonly number[];
  /** One count per bound and one for what lies above them all. */
  readonly #counts: Float64Array;
  #sum = 0;
  #exemplars: { traceIds: string[]; values: number[]; times: number[] } | undefined;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  /** Counts a value; with a trace id, that trace becomes the exemplar of the value's bucket. */
  observe(value: number, traceId?: string): void {
    // One of these would be the sum for ever.
    if (Number.isNaN(value)) return;
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#sum += value;
    if (traceId !== undefined) this.#remember(bucket, value, traceId);
  }

  /** Its lines: cumulative buckets, sum and count. */
  samples(labels: string): Sample[] {
    const samples: Sample[] = [];
    let count = 0;
    for (const [index, inBucket] of this.#counts.entries()) {
      count += inBucket;
      const le = `le="${this.#bounds[index] ?? '+Inf'}"`;
      samples.push({ suffix: '_bucket', labels: `${labels},${le}`, value: count, exemplar: this.#exemplar(index) });
    }
    samples.push({ suffix: '_sum', labels, value: this.#sum }, { suffix: '_count', labels, value: count });
    return samples;
  }

  #remember(bucket: number, value: number, traceId: string): void {
    const length = this.#counts.length;
    this.#exemplars ??= {
      traceIds: new Array(length).fill(''),
      values: new Array(length).fill(0),
      times: new Array(length).fill(0),
    };
    this.#exemplars.traceIds[bucket] = traceId;
    this.#exemplars.values[bucket] = value;
    this.#exemplars.times[bucket] = Date.now();
  }

  #exemplar(bucket: number): Sample['exemplar'] {
    const traceId = this.#exemplars?.traceIds[bucket];
    if (!this.#exemplars || !traceId) return undefined;
    const { values, times } = this.#exemplars;
    return { traceId, value: values[bucket] ?? 0, time: (times[bucket] ?? 0) / 1000 };
  }
}

/** What a histogram is called and how it counts. */
interface HistogramOptions {
  name: string;
  help: string;
  labels: readonly string[];
  /** Upper bounds of the buckets, ascending. */
  buckets: readonly number[];
}

/** A histogram whose callers keep its series; prom-client's own looks up a series at each observation, which takes 1 microsecond. */
export class Histogram implements MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly series: SeriesMap<HistogramSeries>;

  constructor({ name, help, labels, buckets }: HistogramOptions, limit: SeriesLimit) {
    this.name = name;
    this.help = help;
    this.series = new SeriesMap(name, labels, limit, () => new HistogramSeries(buckets));
  }

  /** Counts a value under these label values; who observes the same ones often keeps their series instead. */
  observe(value: number, ...labels: string[]): void {
    this.series.of(...labels)?.observe(value);
  }

  samples(): Sample[] {
    return [...this.series].flatMap(([labels, series]) => series.samples(labels));
  }
}
