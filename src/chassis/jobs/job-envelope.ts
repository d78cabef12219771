import { getRequestContext } from '../context/request-context.ts';

/** What is stored of a job: its data, and where it comes from. */
export interface JobEnvelope {
  readonly payload: unknown;
  /** Of the request or run that sent it. */
  readonly requestId?: string;
  /** Of its trace (W3C Trace Context). */
  readonly traceparent?: string;
}

/** Puts data with what is known of the request under way. */
export function envelopeOf(payload: unknown): JobEnvelope {
  const { requestId, traceId, spanId, sampled } = getRequestContext() ?? {};
  return {
    payload,
    ...(requestId !== undefined && { requestId }),
    ...(traceId !== undefined &&
      spanId !== undefined && { traceparent: `00-${traceId}-${spanId}-${sampled ? '01' : '00'}` }),
  };
}
