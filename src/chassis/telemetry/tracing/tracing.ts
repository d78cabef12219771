import type { Environment } from '../../config/environment.ts';
import type { RequestObserver } from '../../context/request-observer.ts';
import type { Reporter } from '../../errors/reporters/reporter.ts';

/** Where spans go and who makes them, for the start-up report. */
export interface TracingDescription {
  /** Host of the collector; undefined where spans are not exported. */
  exportsTo: string | undefined;
  sampler?: string;
  /** Whose tracer provider the process has: the chassis refuses to start beside another. */
  tracerProvider: 'slipway' | 'of another service of this process' | 'none';
}

/** Tracing, as far as it is switched on. */
export interface Tracing {
  /** Sees every request before any other observer, which finds the ids in the context. */
  readonly observer: RequestObserver;
  readonly reporters: readonly Reporter[];
  describe(): TracingDescription;
  /** Sends what waits, for less than two seconds, and ends. */
  close(): Promise<void>;
}

/** The settings that tracing reads. */
export type TracingSettings = Pick<Environment, Extract<keyof Environment, `OTEL_${string}`>>;

/** Where spans are exported to; undefined where nothing is exported. */
export function tracesUrl(settings: TracingSettings): string | undefined {
  if (settings.OTEL_SDK_DISABLED || settings.OTEL_TRACES_EXPORTER === 'none') return undefined;
  const base = settings.OTEL_EXPORTER_OTLP_ENDPOINT;
  return settings.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base && `${base.replace(/\/+$/, '')}/v1/traces`);
}
