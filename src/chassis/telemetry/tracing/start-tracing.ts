import type { RequestObserver } from '../../context/request-observer.ts';
import type { Reporter } from '../../errors/reporters/reporter.ts';
import { propagateTrace } from './propagate-trace.ts';
import { sendContextOnFetch } from './send-context-on-fetch.ts';
import { type TracingSettings, tracesUrl } from './tracing-settings.ts';

/** Where spans go and who makes them, for the start-up report. */
export interface TracingDescription {
  /** Host of the collector; undefined where spans are not exported. */
  exportsTo: string | undefined;
  sampler?: string;
  /** Whose tracer provider the process has: the chassis refuses to start beside another. */
  tracerProvider: 'slipway' | 'none';
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

/**
 * Has every request belong to a trace and pass it on by `fetch` (W3C Trace Context and Baggage). Spans are recorded and
 * exported only where an endpoint is set; otherwise no part of OpenTelemetry is even loaded.
 */
export async function startTracing(settings: TracingSettings): Promise<Tracing> {
  const stopHeaders = sendContextOnFetch();
  const url = tracesUrl(settings);
  if (url === undefined) {
    const describe = (): TracingDescription => ({ exportsTo: undefined, tracerProvider: 'none' });
    return { observer: propagateTrace, reporters: [], describe, close: async () => stopHeaders() };
  }
  try {
    const { exportSpans } = await import('./export-spans.ts');
    const tracing = await exportSpans(settings, url);
    const close = async () => {
      stopHeaders();
      await tracing.close();
    };
    return { ...tracing, close };
  } catch (error) {
    stopHeaders();
    throw error;
  }
}
