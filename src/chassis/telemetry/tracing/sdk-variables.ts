import process from 'node:process';
import { buildInfo } from '../../config/build-info.ts';
import type { Environment, Variables } from '../../config/environment.ts';
import { tracingSettings } from '../../config/settings/tracing-settings.ts';
import { exportsSpans } from './tracing.ts';

/** What the SDK reads by itself, beside the settings. */
const known =
  /^OTEL_(EXPORTER_OTLP_(TRACES_|METRICS_|LOGS_)?(HEADERS|TIMEOUT|COMPRESSION|CERTIFICATE|CLIENT_KEY|CLIENT_CERTIFICATE|INSECURE)|BL?RP_(SCHEDULE_DELAY|EXPORT_TIMEOUT|MAX_QUEUE_SIZE|MAX_EXPORT_BATCH_SIZE)|BSP_EXPORT_TIMEOUT|METRIC_EXPORT_TIMEOUT|(SPAN_|LOGRECORD_)?ATTRIBUTE_(VALUE_LENGTH|COUNT)_LIMIT|SPAN_(EVENT|LINK)_COUNT_LIMIT|(EVENT|LINK)_ATTRIBUTE_COUNT_LIMIT)$/;

/** Names of OpenTelemetry's variables that are set and mean nothing to a service. */
export function meaninglessVariables(variables: Variables): string[] {
  const names = Object.keys(variables).filter((name) => name.startsWith('OTEL_') && variables[name]);
  return names.filter((name) => !known.test(name) && !(name.replace(/_FILE$/, '') in tracingSettings));
}

/** What a service is called in telemetry: OTEL_SERVICE_NAME wins over OTEL_RESOURCE_ATTRIBUTES, and both over package.json. */
export function serviceName(settings: Environment): string {
  const { OTEL_SERVICE_NAME: name, OTEL_RESOURCE_ATTRIBUTES: attributes } = settings;
  return name ?? attributes?.['service.name'] ?? buildInfo(settings).name;
}

/** The variables that the SDK is to read: the settings, which are checked, and what it knows beside them. */
export function sdkVariables(settings: Environment, variables: Variables): Record<string, string> {
  const attributes = { 'service.version': buildInfo(settings).version, ...settings.OTEL_RESOURCE_ATTRIBUTES };
  const all: Record<string, unknown> = {
    ...Object.fromEntries(Object.entries(variables).filter(([name]) => known.test(name))),
    OTEL_BSP_EXPORT_TIMEOUT: settings.OTEL_EXPORTER_OTLP_TIMEOUT,
    OTEL_BLRP_EXPORT_TIMEOUT: settings.OTEL_EXPORTER_OTLP_TIMEOUT,
    ...settings,
    OTEL_RESOURCE_ATTRIBUTES: attributes,
    OTEL_TRACES_EXPORTER: exportsSpans(settings) ? 'otlp' : 'none',
    // Made with what the service counts, not by the SDK.
    OTEL_METRICS_EXPORTER: 'none',
  };
  const set = Object.entries(all).filter(
    ([name, value]) => name.startsWith('OTEL_') && value !== undefined && value !== '',
  );
  return Object.fromEntries(set.map(([name, value]) => [name, textOf(value)]));
}

/** Pairs as their variables have them. */
function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map((pair) => pair.map((part) => encodeURIComponent(String(part))).join('='))
    .join(',');
}

/**
 * Runs `work` while these are the only variables of OpenTelemetry that the process has: the SDK reads them of the process, but
 * they are those of one service. Everything is as it was before any other code runs.
 *
 * @param process whose `env` the SDK reads. Default: the process
 */
export function withVariables<T>(
  variables: Readonly<Record<string, string>>,
  work: () => T,
  { env }: Pick<NodeJS.Process, 'env'> = process,
): T {
  const before = Object.entries(env).filter(([name]) => name.startsWith('OTEL_'));
  for (const [name] of before) delete env[name];
  Object.assign(env, variables);
  try {
    return work();
  } finally {
    for (const name of Object.keys(variables)) delete env[name];
    Object.assign(env, Object.fromEntries(before));
  }
}
