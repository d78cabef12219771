import { type Metric, Registry, type RegistryContentType, register } from 'prom-client';
import { labelText, type MetricFamily, type Sample } from './metric-family.ts';
import type { ModuleMetrics, Printable } from './module-metrics.ts';
import { processMetrics } from './process-metrics.ts';

/** What prom-client says of a metric. */
interface PromMetric {
  name: string;
  help: string;
  type: MetricFamily['type'] | 'summary';
  values: { metricName?: string; labels: Record<string, string | number>; value: number }[];
}

/** A scrape's answer. */
export interface Exposition {
  contentType: string;
  text: string;
  /** The same for all who are sent it at once: of a text Node makes a copy for each. */
  bytes: Buffer;
}

/**
 * All metrics as text: those given, those of the process, then those of modules. In the OpenMetrics format, which alone
 * has exemplars, where the Accept header prefers it, else in Prometheus' own.
 *
 * @param modules what modules count in this service; what they count in prom-client's default registry, which belongs to
 *   the process, is in the text of every service
 */
export async function exposition(
  families: readonly MetricFamily[],
  modules: ModuleMetrics,
  accept: string | undefined,
): Promise<Exposition> {
  const open = prefersOpenMetrics(accept);
  const own = families.map((family) => print(family, open)).join('');
  const registry = new Registry<RegistryContentType>();
  registry.setContentType(open ? Registry.OPENMETRICS_CONTENT_TYPE : Registry.PROMETHEUS_CONTENT_TYPE);
  for (const metric of await printables(families, modules)) {
    registry.registerMetric((open ? openMetric(metric) : metric) as unknown as Metric);
  }
  const text = own + (await registry.metrics());
  return { contentType: registry.contentType, text, bytes: Buffer.from(text) };
}

/** The metrics of the process and of modules as families: what prom-client keeps, in the form of the chassis' own. */
export async function promFamilies(families: readonly MetricFamily[], modules: ModuleMetrics): Promise<MetricFamily[]> {
  const metrics = await printables(families, modules);
  return Promise.all(metrics.map(async (metric) => toFamily((await metric.get()) as PromMetric)));
}

async function printables(families: readonly MetricFamily[], modules: ModuleMetrics): Promise<Printable[]> {
  const ofProcess = processMetrics().getMetricsAsArray() as unknown as Printable[];
  const names = new Set([...families, ...ofProcess].map(({ name }) => name));
  return [...ofProcess, ...(await modules.readable(names, register.getMetricsAsArray() as unknown as Printable[]))];
}

/** Of a summary, which nothing but Prometheus knows, the quantiles are gauges. */
function toFamily({ name, help, type, values }: PromMetric): MetricFamily {
  const isSummary = type === 'summary';
  const shown = isSummary ? values.filter(({ metricName = name }) => metricName === name) : values;
  const samples = shown.map(({ metricName = name, labels, value }) => ({
    suffix: metricName.slice(name.length),
    labels: labelText(Object.fromEntries(Object.entries(labels).map((pair) => [pair[0], String(pair[1])]))),
    value,
  }));
  return { name, help, type: isSummary ? 'gauge' : type, samples: () => samples };
}

/** prom-client takes some 10 microseconds for a line, which at thousands of lines would hold up requests. */
function print(family: MetricFamily, open: boolean): string {
  const { name, help, type } = family;
  const title = open && type === 'counter' ? withoutTotal(name) : name;
  let text = `# HELP ${title} ${help}\n# TYPE ${title} ${type}\n`;
  for (const { suffix = '', labels, value, exemplar } of family.samples()) {
    text += `${name}${suffix}${labels && `{${labels}}`} ${value}${open && exemplar ? exemplarText(exemplar) : ''}\n`;
  }
  return text;
}

function exemplarText({ traceId, value, time }: NonNullable<Sample['exemplar']>): string {
  return ` # {trace_id="${traceId}"} ${value} ${time}`;
}

/** prom-client itself would rename its counter for OpenMetrics, and print it so in all later scrapes of any format. */
function openMetric(metric: Printable): Printable {
  if (metric.type !== 'counter') return metric;
  const name = withoutTotal(metric.name);
  return { name, type: metric.type, get: async () => ({ ...(await metric.get()), name }) };
}

/** As OpenMetrics calls a counter above its lines. */
function withoutTotal(name: string): string {
  return name.replace(/_total$/, '');
}

/** Whether `Accept` names OpenMetrics with a weight that is not below the plain format's. */
export function prefersOpenMetrics(accept = ''): boolean {
  const weights = accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return { type, weight: Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1) };
  });
  const best = (name: string) =>
    Math.max(0, ...weights.filter(({ type }) => type === name).map(({ weight }) => weight));
  return best('application/openmetrics-text') > 0 && best('application/openmetrics-text') >= best('text/plain');
}
