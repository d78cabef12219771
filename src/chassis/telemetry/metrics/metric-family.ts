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
