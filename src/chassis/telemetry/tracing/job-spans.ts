import { propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import { activateSpan } from './request-context-manager.ts';
import type { JobTracer } from './tracing.ts';

/**
 * One consumer span for each run of a job, by OpenTelemetry's conventions for messaging: child of the span that sent the
 * job, an error when the run failed.
 */
export function jobSpans(tracer: Tracer): JobTracer {
  return {
    begin(context, { name, id, attempt, traceparent }) {
      const parent = traceparent === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { traceparent });
      const attributes = {
        'messaging.operation.type': 'process',
        'messaging.destination.name': name,
        'messaging.message.id': id,
        'slipway.job.attempt': attempt,
      };
      const span = tracer.startSpan(`job ${name}`, { kind: SpanKind.CONSUMER, attributes }, parent);
      const { traceId, spanId } = span.spanContext();
      Object.assign(context, { traceId, spanId, sampled: span.isRecording() });
      activateSpan(context, span, parent);
      return (outcome) => {
        span.setAttribute('slipway.job.outcome', outcome);
        if (outcome === 'failed' || outcome === 'dead') span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      };
    },
  };
}
