import { z } from 'zod';
import { flag, isHostList, isUrlOf, wholeNumber } from './setting-types.ts';

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
const protocols = z.enum(['grpc', 'http/protobuf', 'http/json'], {
  error: 'expected http/protobuf or http/json, which collectors take at port 4318, or grpc, at port 4317',
});
const propagators = ['tracecontext', 'baggage', 'b3', 'b3multi', 'none'] as const;
const detectors = ['env', 'host', 'os', 'process', 'serviceinstance', 'all', 'none'] as const;

/** OpenTelemetry's own variables, with the names, meanings and defaults of its specification, as far as they are checked. */
export const tracingSettings = {
  OTEL_SDK_DISABLED: flag(false).describe('Switches every export off; trace ids are passed on all the same'),
  OTEL_TRACES_EXPORTER: z
    .enum(['otlp', 'none'], { error: 'expected otlp or none' })
    .optional()
    .describe('`none` exports no spans, `otlp` does without an endpoint too, to port 4318 or 4317 of this machine'),
  OTEL_METRICS_EXPORTER: z
    .enum(['prometheus', 'otlp', 'none'], { error: 'expected prometheus, otlp or none' })
    .default('prometheus')
    .describe('`otlp` sends what `/metrics` shows to the collector too; `/metrics` is there with each of them'),
  OTEL_LOGS_EXPORTER: z
    .enum(['otlp', 'none'], { error: 'expected otlp or none' })
    .default('none')
    .describe('`otlp` sends the lines of the log to the collector too'),
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint().describe(
    'Collector that spans are exported to, e.g. `http://collector:4318`; none are exported when unset',
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint().describe('The same as the full address of spans, with `/v1/traces`'),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpoint().describe('The same of metrics, with `/v1/metrics`'),
  OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: endpoint().describe('The same of logs, with `/v1/logs`'),
  OTEL_EXPORTER_OTLP_HEADERS: pairs()
    .meta({ secret: true })
    .describe('Headers of each export, e.g. `authorization=Bearer%20…`; percent-encoded, with commas between'),
  OTEL_EXPORTER_OTLP_PROTOCOL: protocols
    .default('http/protobuf')
    .describe('How exports are written: `http/protobuf`, `http/json` or `grpc`'),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocols.optional().describe('The same, for spans only'),
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: protocols.optional().describe('The same, for metrics only'),
  OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: protocols.optional().describe('The same, for logs only'),
  OTEL_EXPORTER_OTLP_TIMEOUT: wholeNumber(1, 600_000, 1500).describe('How long an export may take, in milliseconds'),
  OTEL_PROPAGATORS: listOf(propagators)
    .default('tracecontext,baggage')
    .describe('Headers by which traces come and go: `tracecontext`, `baggage`, `b3`, `b3multi`, with commas between'),
  OTEL_NODE_RESOURCE_DETECTORS: listOf(detectors)
    .default('all')
    .describe('What is found out of the machine and the process: `env`, `host`, `os`, `process`, `serviceinstance`'),
  OTEL_TRACES_SAMPLER: z
    .enum(samplers, { error: `expected ${samplers.join(', ')}` })
    .default('parentbased_always_on')
    .describe(
      'Which requests are recorded: `always_on`, `always_off` or `traceidratio`; with `parentbased_` before it, as the caller decided',
    ),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0?\.\d{1,9}|0|1(\.0{1,9})?)$/, 'expected a number from 0 to 1')
    .transform(Number)
    .optional()
    .describe('Share of requests that the `traceidratio` samplers record; all when unset'),
  OTEL_SERVICE_NAME: z
    .string()
    .max(255, 'expected at most 255 characters')
    .optional()
    .describe('Name of the service in traces'),
  OTEL_RESOURCE_ATTRIBUTES: pairs().describe(
    'What else is said of the service in traces, e.g. `deployment.environment.name=staging,team=shop`',
  ),
  OTEL_METRIC_EXPORT_INTERVAL: wholeNumber(100, 86_400_000, 60_000).describe(
    'How often metrics are exported, in milliseconds',
  ),
  OTEL_BSP_SCHEDULE_DELAY: wholeNumber(1, 600_000, 5000).describe('How long spans wait for a batch, in milliseconds'),
  OTEL_BSP_MAX_QUEUE_SIZE: wholeNumber(1, 1_000_000, 2048).describe('Spans that wait at most; more are dropped'),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: wholeNumber(1, 1_000_000, 512).describe('Spans in one batch at most'),
  OUTBOUND_TRUSTED_HOSTS: z
    .string()
    .refine(isHostList, 'expected internal, none, or a comma list of hosts, .domains, addresses and networks')
    .default('internal')
    .describe(
      'Hosts that get baggage, request id and deadline with calls: `internal` (names inside a cluster, private addresses), `none`, hosts, `.domains`, networks; all get `traceparent`',
    ),
};

function endpoint() {
  return z
    .string()
    .refine(
      (text) => /^https?:\/\/[^\s/?#]/i.test(text) && isUrlOf(text, 'http', 'https'),
      'expected http://… or https://…, with a port from 1 to 65535 if any',
    )
    .optional()
    .meta({ secret: true });
}

function listOf(names: readonly string[]) {
  return z
    .string()
    .refine(
      (text) => text.split(',').every((name) => names.includes(name.trim())),
      `expected ${names.join(', ')}, with commas between`,
    );
}

function pairs() {
  return z
    .string()
    .transform((list, issues) => {
      const values = pairsOf(list);
      if (values) return values;
      issues.addIssue({ code: 'custom', message: 'expected key=value pairs with commas between, percent-encoded' });
      return z.NEVER;
    })
    .optional();
}

function pairsOf(list: string): Record<string, string> | undefined {
  try {
    const pairs = list.split(',').filter((pair) => pair.trim() !== '');
    const entries = pairs.map((pair) => pair.split('=').map((part) => decodeURIComponent(part.trim())));
    return entries.every((entry) => entry.length === 2 && entry[0]) ? Object.fromEntries(entries) : undefined;
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
