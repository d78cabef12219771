import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { propagation, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_REQUEST_METHOD_ORIGINAL,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_NETWORK_PROTOCOL_VERSION,
  ATTR_SERVER_ADDRESS,
  ATTR_SERVER_PORT,
  ATTR_URL_PATH,
  ATTR_URL_QUERY,
  ATTR_URL_SCHEME,
  ATTR_USER_AGENT_ORIGINAL,
} from '@opentelemetry/semantic-conventions';
import type { RequestContext } from '../../context/request-context.ts';
import type { RequestObserver } from '../../context/request-observer.ts';
import { knownMethods, otherMethod } from '../known-methods.ts';
import { maskText } from '../redact.ts';
import { activateSpan, serverSpanOf } from './request-context-manager.ts';
import { propagateTrace, traceCarrier } from './trace-context.ts';

const serverSpan = { kind: SpanKind.SERVER };

/**
 * One server span for each request, by OpenTelemetry's conventions for HTTP: named after the method and the route
 * template, child of the caller's span, an error only with status 500 and above. Of the client it holds the user agent
 * and the id of an authenticated user, not the address. A request that is not sampled gets ids and nothing else, nor does a probe.
 */
export function serverSpans(tracer: Tracer): RequestObserver {
  return {
    opened(context: WaitingContext, req, res) {
      if (context.isProbe) {
        propagateTrace.opened?.(context, req, res);
        return;
      }
      const parent = isTraced(req.headers)
        ? propagation.extract(ROOT_CONTEXT, traceCarrier(req.headers))
        : ROOT_CONTEXT;
      // Where the start is told the end is of whole milliseconds, so it is told only where it is not now.
      const options = context.hasWaited ? { ...serverSpan, startTime: context.startTime } : serverSpan;
      const span = tracer.startSpan(methodName(context.method), options, parent);
      const { traceId, spanId } = span.spanContext();
      context.traceId = traceId;
      context.spanId = spanId;
      context.sampled = span.isRecording();
      activateSpan(context, span, parent);
      if (span.isRecording()) describeIncoming(span, context, req);
    },
    closed(context, _req, res, { aborted, route }) {
      const span = serverSpanOf(context);
      if (!span?.isRecording()) return;
      const { method, userId } = context;
      if (route !== undefined) span.updateName(`${methodName(method)} ${route}`).setAttribute(ATTR_HTTP_ROUTE, route);
      if (userId !== undefined) span.setAttribute('user.id', userId);
      if (res.headersSent) span.setAttribute(ATTR_HTTP_RESPONSE_STATUS_CODE, res.statusCode);
      if (aborted) span.setAttribute('slipway.request.aborted', true);
      if (res.statusCode >= 500) {
        span.setAttribute(ATTR_ERROR_TYPE, String(res.statusCode)).setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
  };
}

/** Of a request that waited before it began, and came at `startTime`. */
type WaitingContext = RequestContext & { readonly hasWaited?: boolean };

function isTraced(headers: IncomingHttpHeaders): boolean {
  if (headers['traceparent'] !== undefined || headers['baggage'] !== undefined) return true;
  return headers['b3'] !== undefined || headers['x-b3-traceid'] !== undefined;
}

/** Clients make up methods; as names of spans they would be without number. */
function methodName(method: string): string {
  return knownMethods.has(method) ? method : 'HTTP';
}

function describeIncoming(span: Span, { method, url, userAgent }: RequestContext, req: IncomingMessage): void {
  const query = url.indexOf('?');
  const known = knownMethods.has(method);
  const { hostname, port } = hostOf(req.headers.host);
  span.setAttributes({
    [ATTR_HTTP_REQUEST_METHOD]: known ? method : otherMethod,
    [ATTR_HTTP_REQUEST_METHOD_ORIGINAL]: known ? undefined : method,
    [ATTR_URL_PATH]: query === -1 ? url : url.slice(0, query),
    [ATTR_URL_QUERY]: query === -1 ? undefined : url.slice(query + 1),
    [ATTR_URL_SCHEME]: (req.socket as TLSSocket).encrypted ? 'https' : 'http',
    [ATTR_SERVER_ADDRESS]: hostname,
    [ATTR_SERVER_PORT]: port,
    [ATTR_NETWORK_PROTOCOL_VERSION]: req.httpVersion,
    [ATTR_USER_AGENT_ORIGINAL]: userAgent,
  });
}

/**
 * No name of a host is longer (RFC 1035, 2.3.4); what is gets into no span, which is held until it is exported. A client may
 * write anything else that is as short, a token too.
 */
const hostForm = /^(\[[\da-f:.]{2,45}\]|[^:]{1,255})(?::(\d{1,5}))?$/i;

function hostOf(host: string | undefined): { hostname?: string; port?: number } {
  const [, hostname, port] = hostForm.exec(host ?? '') ?? [];
  return {
    ...(hostname !== undefined && { hostname: maskText(hostname) }),
    ...(port !== undefined && { port: Number(port) }),
  };
}
