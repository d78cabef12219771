import { randomFillSync } from 'node:crypto';

/** What `traceparent` says (W3C Trace Context, section 3.2). */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Whether the caller records the trace. */
  readonly sampled: boolean;
}

const form = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const onlyZeros = /^0+$/;

/** Random bytes are fetched for many ids at once. */
const bytes = Buffer.alloc(24 * 256);
let used = bytes.length;

/** Reads a `traceparent` header; undefined where it is missing or does not hold, as the standard wants it. */
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
  if (used === bytes.length) {
    randomFillSync(bytes);
    used = 0;
  }
  const digits = bytes.toString('hex', used, used + 24);
  used += 24;
  const parent = { traceId: digits.slice(0, 32), spanId: digits.slice(32), sampled: false };
  return onlyZeros.test(parent.traceId) || onlyZeros.test(parent.spanId) ? newTraceParent() : parent;
}
