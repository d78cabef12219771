import type { Environment } from '../../config/environment.ts';

/** The settings that tracing reads. */
export type TracingSettings = Pick<Environment, Extract<keyof Environment, `OTEL_${string}`>>;

/** Where spans are exported to; undefined where nothing is exported. */
export function tracesUrl(settings: TracingSettings): string | undefined {
  if (settings.OTEL_SDK_DISABLED || settings.OTEL_TRACES_EXPORTER === 'none') return undefined;
  const base = settings.OTEL_EXPORTER_OTLP_ENDPOINT;
  return settings.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base && `${base.replace(/\/+$/, '')}/v1/traces`);
}
