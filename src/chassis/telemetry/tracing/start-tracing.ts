import { propagateTrace } from './propagate-trace.ts';
import { sendContextOnFetch } from './send-context-on-fetch.ts';
import { type Tracing, type TracingDescription, type TracingSettings, tracesUrl } from './tracing.ts';

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
