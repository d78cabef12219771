import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { TracingSettings } from './tracing.ts';

/** A collector that hangs holds a batch no longer, and the end of the service neither. */
export const exportTimeoutMs = 1500;

const exporters = {
  'http/protobuf': () => import('@opentelemetry/exporter-trace-otlp-proto'),
  'http/json': () => import('@opentelemetry/exporter-trace-otlp-http'),
};

/** Sends spans to the collector. Certificates and compression it reads from `OTEL_EXPORTER_OTLP_*` itself. */
export async function spanExporter(settings: TracingSettings, url: string): Promise<SpanExporter> {
  const protocol = settings.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? settings.OTEL_EXPORTER_OTLP_PROTOCOL;
  const { OTLPTraceExporter } = await exporters[protocol]();
  return new OTLPTraceExporter({
    url,
    timeoutMillis: exportTimeoutMs,
    ...(settings.OTEL_EXPORTER_OTLP_HEADERS && { headers: settings.OTEL_EXPORTER_OTLP_HEADERS }),
  });
}
