import { type Environment, readEnvironment } from '../../src/chassis/config/environment.ts';

/** Settings of a service that exports spans as JSON, at once. */
export function exportingSettings(collectorUrl: string | undefined, more: Record<string, string> = {}): Environment {
  const exporting = { OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
  return readEnvironment(
    {},
    { NODE_ENV: 'test', ...(collectorUrl && exporting), OTEL_BSP_SCHEDULE_DELAY: '10', ...more },
  );
}
