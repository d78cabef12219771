import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import type { MetricFamily, Sample } from '../metrics/metric-family.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { protocolOf, type TracingSettings } from './tracing.ts';

const exporters = {
  grpc: () => import('@opentelemetry/exporter-metrics-otlp-grpc'),
  'http/protobuf': () => import('@opentelemetry/exporter-metrics-otlp-proto'),
  'http/json': () => import('@opentelemetry/exporter-metrics-otlp-http'),
};
const label = /,?(\w+)="((?:[^"\\]|\\.)*)"/gy;
const escaped = /\\(.)/g;

/**
 * Loads what exports all that `/metrics` shows, in the same names, and what modules count with OpenTelemetry's own meters.
 *
 * @returns what makes the reader, to be called while the variables of the SDK are those of the service
 */
export async function metricReader(
  settings: TracingSettings,
  metrics: Metrics,
): Promise<() => PeriodicExportingMetricReader> {
  const { OTLPMetricExporter } = await exporters[protocolOf(settings, 'METRICS')]();
  const interval = settings.OTEL_METRIC_EXPORT_INTERVAL;
  return () =>
    new PeriodicExportingMetricReader({
      exporter: new OTLPMetricExporter() as PushMetricExporter,
      exportIntervalMillis: interval,
      exportTimeoutMillis: Math.min(interval, settings.OTEL_EXPORTER_OTLP_TIMEOUT),
      metricProducers: [producerOf(metrics)],
    });
}

function producerOf(metrics: Metrics): MetricProducer {
  const started = toHrTime(Date.now());
  return {
    async collect() {
      const families = await metrics.families();
      const now = toHrTime(Date.now());
      const scopeMetrics = [
        { scope: { name: 'slipway' }, metrics: families.map((family) => dataOf(family, started, now)) },
      ];
      // The reader takes the resource of the SDK in its place.
      return { resourceMetrics: { resource: undefined as never, scopeMetrics }, errors: [] };
    },
  };
}

/** With the count of all buckets so far. */
type CountedHistogram = Histogram & { below: number };

function dataOf(family: MetricFamily, startTime: HrTime, endTime: HrTime): MetricData {
  const { name, help: description, type } = family;
  const base = {
    descriptor: { name, description, unit: unitOf(name), valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const samples = family.samples();
  const point = <T>(attributes: Attributes, value: T): DataPoint<T> => ({ startTime, endTime, attributes, value });
  if (type === 'histogram') {
    const dataPoints = histogramsOf(samples).map(([attributes, value]) => point(attributes, value));
    return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints = samples.map(({ labels, value }) => point(attributesOf(labels), value));
  if (type === 'gauge') return { ...base, dataPointType: DataPointType.GAUGE, dataPoints };
  return { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
}

/** Buckets hold what lies below their bound too; OpenTelemetry's hold what lies between two. */
function histogramsOf(samples: readonly Sample[]): [Attributes, Histogram][] {
  const found = new Map<string, [Attributes, CountedHistogram]>();
  for (const { suffix, labels, value } of samples) {
    const { le, ...attributes } = attributesOf(labels);
    const key = JSON.stringify(attributes);
    const histogram: CountedHistogram = found.get(key)?.[1] ?? {
      buckets: { boundaries: [], counts: [] },
      count: 0,
      below: 0,
    };
    found.set(key, [attributes, histogram]);
    if (suffix === '_sum') histogram.sum = value;
    else if (suffix === '_count') histogram.count = value;
    else {
      if (le !== '+Inf') histogram.buckets.boundaries.push(Number(le));
      histogram.buckets.counts.push(value - histogram.below);
      histogram.below = value;
    }
  }
  return [...found.values()];
}

function attributesOf(labels: string): Record<string, string> {
  const pairs = [...labels.matchAll(label)].map(([, name = '', text = '']) => [name, text.replace(escaped, unescaped)]);
  return Object.fromEntries(pairs);
}

function unescaped(_found: string, character: string): string {
  return character === 'n' ? '\n' : character;
}

function unitOf(name: string): string {
  if (/_seconds(_total)?$/.test(name)) return 's';
  return /_bytes(_total)?$/.test(name) ? 'By' : '';
}

function toHrTime(ms: number): HrTime {
  return [Math.floor(ms / 1000), (ms % 1000) * 1_000_000];
}
