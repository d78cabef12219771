import { randomFillSync } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { RequestContext } from '../../context/request-context.ts';
import type { RequestObserver } from '../../context/request-observer.ts';
import type { JobTracer } from './tracing.ts';

/** What `traceparent` says (W3C Trace Context, section 3.2). */
interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Whether the caller records the trace. */
  readonly sampled: boolean;
}

const form = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const onlyZeros = /^0+$/;

const traceIdBytes = 16;
const spanIdBytes = 8;

/** Random bytes are fetched for many ids at once. */
const bytes = Buffer.alloc(24 * 256);
let used = bytes.length;

/** Reads a `traceparent` header; undefined where it is missing or malformed, as the standard wants it. */
export function parseTraceParent(header: string | string[] | undefined): TraceParent | undefined {
  if (typeof header !== 'string') return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = form.exec(header) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (onlyZeros.test(traceId) || onlyZeros.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Writes a `traceparent` header. */
export function formatTraceParent({ traceId, spanId, sampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

/** A trace of its own that nobody records. */
export function newTraceParent(): TraceParent {
  return { traceId: newTraceId(), spanId: newSpanId(), sampled: false };
}

/** A new id for a trace. */
export function newTraceId(): string {
  return randomId(traceIdBytes);
}

/** A new id for a span. */
export function newSpanId(): string {
  return randomId(spanIdBytes);
}

function randomId(length: number): string {
  if (used + length > bytes.length) {
    randomFillSync(bytes);
    used = 0;
  }
  const digits = bytes.toString('hex', used, used + length);
  used += length;
  return onlyZeros.test(digits) ? randomId(length) : digits;
}

const headersKey = Symbol('trace headers');
/** Those of Zipkin, for meshes that know no others. */
const b3Headers = ['b3', 'x-b3-traceid', 'x-b3-spanid', 'x-b3-parentspanid', 'x-b3-sampled', 'x-b3-flags'];
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
    passOthers(passed, headers);
    (context as ContextWithTrace)[headersKey] = passed;
  },
};

/** The same for a run of a job, whose trace is that of the request which sent it. */
export const propagateJobTrace: JobTracer = {
  begin(context, { traceparent }) {
    const headers = traceparent === undefined ? {} : { traceparent };
    propagateTrace.opened?.(context, { headers } as IncomingMessage, undefined as never);
    return () => undefined;
  },
};

/** The headers by which a request passes its trace on; none where its spans do that. */
export function traceHeaders(context: RequestContext): Readonly<Record<string, string>> | undefined {
  return (context as ContextWithTrace)[headersKey];
}

/**
 * The headers that tell of a trace, for a library that reads them. Those that are too long are left out: what it makes of them
 * is held until the span of the request is exported. So is a malformed baggage, of which it would make an error for each entry.
 */
export function traceCarrier(headers: IncomingHttpHeaders): Record<string, string> {
  const carrier: Record<string, string> = {};
  pass(carrier, 'traceparent', headers['traceparent'], maximumStateLength);
  pass(carrier, 'tracestate', headers['tracestate'], maximumStateLength);
  passOthers(carrier, headers);
  const { baggage, ...others } = carrier;
  return baggage === undefined || isWellEncoded(baggage) ? carrier : others;
}

/** Percent-encoding that is whole in a list is so in each entry. A bundler leaves out what is decoded for nothing. */
function isWellEncoded(list: string): boolean {
  if (!list.includes('%')) return true;
  try {
    return decodeURIComponent(list) !== '';
  } catch {
    return false;
  }
}

function passOthers(passed: Record<string, string>, headers: IncomingHttpHeaders): void {
  pass(passed, 'baggage', headers['baggage'], maximumBaggageLength);
  for (const name of b3Headers) pass(passed, name, headers[name], maximumStateLength);
}

function pass(passed: Record<string, string>, name: string, value: string | string[] | undefined, limit: number): void {
  const text = Array.isArray(value) ? value.join(',') : value;
  if (text !== undefined && text.length <= limit && headerText.test(text)) passed[name] = text;
}
