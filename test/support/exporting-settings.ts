import { type Environment, readEnvironment, type Variables } from '../../src/chassis/config/environment.ts';
import type { Logger } from '../../src/chassis/telemetry/logger.ts';
import { Metrics } from '../../src/chassis/telemetry/metrics/metrics.ts';
import type { TelemetryOptions } from '../../src/chassis/telemetry/tracing/tracing.ts';

/** Settings of a service that exports spans as JSON, at once. */
export function exportingSettings(collectorUrl: string | undefined, more: Record<string, string> = {}): Environment {
  const exporting = { OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
  return readEnvironment(
    {},
    { NODE_ENV: 'test', ...(collectorUrl && exporting), OTEL_BSP_SCHEDULE_DELAY: '10', ...more },
  );
}

/** What telemetry starts with, where a service has counted nothing. */
export function telemetryOptions(settings: Environment, logger: Logger, variables: Variables = {}): TelemetryOptions {
  const build = { version: '1', revision: 'r' };
  const metrics = new Metrics({ seriesLimit: 10, build, pool: () => undefined, log: logger });
  return { settings, variables, logger, metrics, isCurrent: () => true };
}
