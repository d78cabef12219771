import type { RequestContext } from '../../context/request-context.ts';
import type { RequestObserver } from '../../context/request-observer.ts';
import { formatTraceParent, newTraceParent, parseTraceParent } from './trace-context.ts';

const headersKey = Symbol('trace headers');
const headerText = /^[\t\x20-\x7e]+$/;
const maximumStateLength = 512;
const maximumBaggageLength = 8_192;

type ContextWithTrace = RequestContext & { [headersKey]?: Record<string, string> };

/**
 * Takes part in traces without recording them: requests carry the caller's trace, else one of their own, and pass on
 * what came. The span of the caller stays the parent of what is called, because there is none between that anybody sees.
 */
export const propagateTrace: RequestObserver = {
  opened(context, { headers }) {
    const received = parseTraceParent(headers['traceparent']);
    const parent = received ?? newTraceParent();
    context.traceId = parent.traceId;
    context.spanId = parent.spanId;
    context.sampled = parent.sampled;
    const passed: Record<string, string> = { traceparent: formatTraceParent(parent) };
    if (received) pass(passed, 'tracestate', headers['tracestate'], maximumStateLength);
    pass(passed, 'baggage', headers['baggage'], maximumBaggageLength);
    (context as ContextWithTrace)[headersKey] = passed;
  },
};

/** The headers by which a request passes its trace on; none where its spans do that. */
export function traceHeaders(context: RequestContext): Readonly<Record<string, string>> | undefined {
  return (context as ContextWithTrace)[headersKey];
}

function pass(passed: Record<string, string>, name: string, value: string | string[] | undefined, limit: number): void {
  const text = Array.isArray(value) ? value.join(',') : value;
  if (text !== undefined && text.length <= limit && headerText.test(text)) passed[name] = text;
}
