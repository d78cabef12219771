import { context, propagation, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import { isTracingSuppressed } from '@opentelemetry/core';
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_SERVER_ADDRESS,
  ATTR_SERVER_PORT,
  ATTR_URL_FULL,
  ATTR_URL_PATH,
  ATTR_URL_QUERY,
  ATTR_URL_SCHEME,
} from '@opentelemetry/semantic-conventions';
import { redactUrl } from '../redact.ts';
import { passOn } from './outgoing-requests.ts';
import type { OutgoingRequest, OutgoingSpan, OutgoingTracer } from './tracing.ts';

const clientSpan = { kind: SpanKind.CLIENT };

/**
 * One client span for each request that is sent inside another span, by OpenTelemetry's conventions for HTTP. It ends with
 * the last byte of the answer where `fetch` sent it, with the head of the answer where `node:http` did.
 */
export function clientSpans(tracer: Tracer): OutgoingTracer {
  return {
    begin(request) {
      const parent = context.active();
      if (isTracingSuppressed(parent)) return undefined;
      if (trace.getSpan(parent) === undefined) return passOn.begin(request);
      const span = tracer.startSpan(request.method, clientSpan, parent);
      if (span.isRecording()) describeOutgoing(span, request);
      const headers: Record<string, string> = {};
      propagation.inject(trace.setSpan(parent, span), headers);
      return { headers, span: outgoingSpan(span) };
    },
  };
}

/** Passes on what the request under way came with, but not with the requests of exporters. */
export const passOnButExports: OutgoingTracer = {
  begin: (request) => (isTracingSuppressed(context.active()) ? undefined : passOn.begin(request)),
};

function describeOutgoing(span: Span, { method, protocol, host, path }: OutgoingRequest): void {
  const { href, hostname, port, pathname, search } = new URL(redactUrl(`${protocol}//${host}${path}`));
  span.setAttributes({
    [ATTR_HTTP_REQUEST_METHOD]: method,
    [ATTR_URL_FULL]: href,
    [ATTR_URL_PATH]: pathname,
    [ATTR_URL_QUERY]: search === '' ? undefined : search,
    [ATTR_URL_SCHEME]: protocol.slice(0, -1),
    [ATTR_SERVER_ADDRESS]: hostname,
    [ATTR_SERVER_PORT]: Number(port) || (protocol === 'https:' ? 443 : 80),
  });
}

function outgoingSpan(span: Span): OutgoingSpan {
  return {
    answered(status) {
      span.setAttribute(ATTR_HTTP_RESPONSE_STATUS_CODE, status);
      if (status >= 400) span.setAttribute(ATTR_ERROR_TYPE, String(status)).setStatus({ code: SpanStatusCode.ERROR });
    },
    failed(error) {
      const { name, code } = (error ?? {}) as NodeJS.ErrnoException;
      span.setAttribute(ATTR_ERROR_TYPE, code ?? name ?? 'Error').setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
    ended: () => span.end(),
  };
}
