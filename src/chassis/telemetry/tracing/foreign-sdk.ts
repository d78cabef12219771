import { context as active, trace } from '@opentelemetry/api';
import type { RequestObserver } from '../../context/request-observer.ts';
import type { Logger } from '../logger.ts';
import { jobSpans } from './job-spans.ts';
import { activateSpan, serverSpanOf } from './request-context-manager.ts';
import { spanReporter } from './span-reporter.ts';
import { propagateTrace } from './trace-context.ts';
import { apiRegistry, type Tracing, type WithApiRegistry } from './tracing.ts';

/**
 * Takes part in the traces of an SDK that somebody else started in this process, as OpenTelemetry's Operator does: requests
 * have the ids of its spans, their route and their exceptions stand in them, and it exports what it is told to.
 */
export function joinForeignSdk(logger: Logger): Tracing {
  openRegistry();
  logger.warn(
    'another OpenTelemetry SDK of this process is used, and its exporters: settings of this service for exports have no effect; ' +
      'start without it (NODE_OPTIONS, --require, --import, the annotation of the Operator) to have them',
  );
  return {
    observer: foreignSpans,
    reporters: [spanReporter],
    outgoing: { begin: () => ({ headers: {} }) },
    jobs: jobSpans(trace.getTracer('slipway')),
    describe: () => ({ exportsTo: undefined, tracerProvider: 'of another SDK' }),
    close: async () => undefined,
  };
}

/**
 * A copy of OpenTelemetry's API takes nothing of the registry that an older copy has made, as that of an injected SDK mostly
 * is, although it holds all that is asked here. So the registry becomes one of a later version, which all copies take.
 */
function openRegistry(): void {
  const shared = globalThis as WithApiRegistry;
  const registered = shared[apiRegistry];
  if (registered?.trace !== trace.getTracerProvider()) shared[apiRegistry] = { ...registered, version: '1.99.0' };
}

/** A request that the SDK does not trace has ids of the chassis. */
const foreignSpans: RequestObserver = {
  closesFirst: true,
  opened(context, req, res) {
    const span = trace.getActiveSpan();
    if (span === undefined) {
      propagateTrace.opened?.(context, req, res);
      return;
    }
    const { traceId, spanId } = span.spanContext();
    context.traceId = traceId;
    context.spanId = spanId;
    context.sampled = span.isRecording();
    activateSpan(context, span, active.active());
  },
  closed(context, _req, _res, { route }) {
    const span = serverSpanOf(context);
    if (!span?.isRecording()) return;
    if (route !== undefined) span.updateName(`${context.method} ${route}`).setAttribute('http.route', route);
    if (context.userId !== undefined) span.setAttribute('user.id', context.userId);
  },
};
