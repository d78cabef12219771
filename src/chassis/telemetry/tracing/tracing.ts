import type { Environment, Variables } from '../../config/environment.ts';
import type { RequestContext } from '../../context/request-context.ts';
import type { RequestObserver } from '../../context/request-observer.ts';
import type { Reporter } from '../../errors/reporters/reporter.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics/metrics.ts';

/** Where OpenTelemetry keeps, for the process, what was registered, whichever copy of its packages did it. */
export const apiRegistry = Symbol.for('opentelemetry.js.api.1');

/** The global object, as far as OpenTelemetry's API uses it. */
export interface WithApiRegistry {
  [apiRegistry]?: { readonly version?: string; readonly trace?: unknown };
}

/** Where spans go and who makes them, for the start-up report. */
export interface TracingDescription {
  /** Host of the collector; undefined where spans are not exported. */
  exportsTo: string | undefined;
  sampler?: string;
  /** Host of the collector of metrics, and of logs, where those are exported. */
  metricsTo?: string;
  logsTo?: string;
  /** Whose tracer provider the process has. */
  tracerProvider: 'slipway' | 'of another service of this process' | 'of another SDK' | 'none';
}

/** A run of a job, as a trace knows it. */
export interface TracedJob {
  readonly name: string;
  readonly id: string;
  /** 1 for the first. */
  readonly attempt: number;
  /** Of the request or run that sent it. */
  readonly traceparent?: string | undefined;
}

/** Who gives runs of jobs their trace. */
export interface JobTracer {
  /** Puts the ids of the trace into the context of a run, and gives what ends its span. */
  begin(context: RequestContext, job: TracedJob): (outcome: string) => void;
}

/** A request that is about to be sent, whatever client made it. */
export interface OutgoingRequest {
  readonly method: string;
  /** `http:` or `https:`. */
  readonly protocol: string;
  /** Host and, where it is not the usual one, port, as in a URL. */
  readonly host: string;
  /** With the query. */
  readonly path: string;
}

/** Hears what becomes of a request that is sent. */
export interface OutgoingSpan {
  answered(status: number): void;
  failed(error: unknown): void;
  ended(): void;
}

/** Who traces what is sent, where spans are recorded. */
export interface OutgoingTracer {
  /**
   * Begins a span, and gives the headers that tell the called service of it. Undefined for a request that is none of
   * the service's own, such as an export of spans: nothing is added to it.
   */
  begin(request: OutgoingRequest): { headers: Readonly<Record<string, string>>; span?: OutgoingSpan } | undefined;
}

/** Tracing, as far as it is switched on. */
export interface Tracing {
  /** Sees every request before any other observer, which finds the ids in the context. */
  readonly observer: RequestObserver;
  readonly reporters: readonly Reporter[];
  /** Traces what requests send; undefined where their trace is passed on as it came. */
  readonly outgoing?: OutgoingTracer;
  /** Traces runs of jobs; undefined where their trace is passed on as it came. */
  readonly jobs?: JobTracer;
  describe(): TracingDescription;
  /** Sends what waits, for less than two seconds, and ends. */
  close(): Promise<void>;
}

/** What telemetry is made of. */
export interface TelemetryOptions {
  settings: Environment;
  /** Those that the settings were read from; the SDK reads more of them than there are settings. */
  variables: Variables;
  logger: Logger;
  metrics: Metrics;
  /** Whether the caller belongs to this service and not to another of the process. */
  isCurrent: () => boolean;
}

/** The settings that tracing reads. */
export type TracingSettings = Pick<Environment, Extract<keyof Environment, `OTEL_${string}`>>;

/** Whether spans are exported: where an endpoint is named, or OTEL_TRACES_EXPORTER says so. */
export function exportsSpans(settings: TracingSettings): boolean {
  const { OTEL_TRACES_EXPORTER: exporter, OTEL_SDK_DISABLED: disabled } = settings;
  if (disabled || exporter === 'none') return false;
  return (
    exporter === 'otlp' ||
    (settings.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? settings.OTEL_EXPORTER_OTLP_ENDPOINT) !== undefined
  );
}

/** What is exported, by its name in the names of variables. */
export function exportedSignals(settings: TracingSettings): Signal[] {
  if (settings.OTEL_SDK_DISABLED) return [];
  return [
    ...(exportsSpans(settings) ? (['TRACES'] as const) : []),
    ...(settings.OTEL_METRICS_EXPORTER === 'otlp' ? (['METRICS'] as const) : []),
    ...(settings.OTEL_LOGS_EXPORTER === 'otlp' ? (['LOGS'] as const) : []),
  ];
}

/** How a signal is written. */
export function protocolOf(settings: TracingSettings, signal: Signal): Protocol {
  return settings[`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`] ?? settings.OTEL_EXPORTER_OTLP_PROTOCOL;
}

/** Host and port that a signal is sent to, without user and password. */
export function collectorOf(settings: TracingSettings, signal: Signal): string {
  const url = settings[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`] ?? settings.OTEL_EXPORTER_OTLP_ENDPOINT;
  return url === undefined ? `localhost:${protocolOf(settings, signal) === 'grpc' ? 4317 : 4318}` : new URL(url).host;
}

/** What OpenTelemetry exports, as variables name it. */
type Signal = 'TRACES' | 'METRICS' | 'LOGS';

/** How it is written. */
type Protocol = 'grpc' | 'http/protobuf' | 'http/json';
