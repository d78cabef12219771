import type { Logger } from '../logger.ts';
import { sendContextOnFetch } from './send-context-on-fetch.ts';
import { propagateTrace } from './trace-context.ts';
import { type Tracing, type TracingDescription, type TracingSettings, tracesUrl } from './tracing.ts';

/**
 * Has every request belong to a trace and pass it on by `fetch` (W3C Trace Context and Baggage). Spans are recorded and
 * exported only where an endpoint is set; otherwise no part of OpenTelemetry is even loaded.
 */
export async function startTracing(settings: TracingSettings, logger: Logger): Promise<Tracing> {
  const stopHeaders = sendContextOnFetch();
  const url = tracesUrl(settings);
  const onlyPropagate = (tracerProvider: TracingDescription['tracerProvider']): Tracing => ({
    observer: propagateTrace,
    reporters: [],
    describe: () => ({ exportsTo: undefined, tracerProvider }),
    close: async () => stopHeaders(),
  });
  if (url === undefined) return onlyPropagate('none');
  try {
    const { exportSpans } = await import('./export-spans.ts');
    const tracing = await exportSpans(settings, url, logger);
    if (!tracing) return onlyPropagate('of another service of this process');
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
