import { z } from 'zod';
import { flag, isUrlOf, wholeNumber } from './setting-types.ts';

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
const protocols = ['http/protobuf', 'http/json'] as const;
const protocolError = 'expected http/protobuf or http/json, which every collector takes at port 4318';

/** OpenTelemetry's own variables, with the names, meanings and defaults of its specification, as far as they are checked. */
export const tracingSettings = {
  OTEL_SDK_DISABLED: flag(false).describe('Switches the export of spans off; trace ids are passed on all the same'),
  OTEL_TRACES_EXPORTER: z
    .enum(['otlp', 'none'], { error: 'expected otlp or none' })
    .default('otlp')
    .describe('`none` exports no spans'),
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint().describe(
    'Collector that spans are exported to, e.g. `http://collector:4318`; none are exported when unset',
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint().describe('The same as the full address of spans, with `/v1/traces`'),
  OTEL_EXPORTER_OTLP_HEADERS: pairs()
    .meta({ secret: true })
    .describe('Headers of each export, e.g. `authorization=Bearer%20…`; percent-encoded, with commas between'),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .enum(protocols, { error: protocolError })
    .default('http/protobuf')
    .describe('How spans are written: `http/protobuf` or `http/json`'),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: z
    .enum(protocols, { error: protocolError })
    .optional()
    .describe('The same, for spans only'),
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
  OTEL_BSP_SCHEDULE_DELAY: wholeNumber(1, 600_000, 5000).describe('How long spans wait for a batch, in milliseconds'),
  OTEL_BSP_MAX_QUEUE_SIZE: wholeNumber(1, 1_000_000, 2048).describe('Spans that wait at most; more are dropped'),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: wholeNumber(1, 1_000_000, 512).describe('Spans in one batch at most'),
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
