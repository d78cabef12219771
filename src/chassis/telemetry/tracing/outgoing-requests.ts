import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { getRequestContext, type RequestContext } from '../../context/request-context.ts';
import { traceHeaders } from './trace-context.ts';
import type { OutgoingRequest, OutgoingSpan, OutgoingTracer } from './tracing.ts';

/** What is sent of one service. */
interface OutgoingOptions {
  trusts: TrustedHosts;
  /** Whether the caller belongs to this service: Node announces every request of the process to all who listen. */
  isCurrent: () => boolean;
  /** Where spans are recorded. Default: the trace is passed on as it came. */
  tracer?: OutgoingTracer | undefined;
}

/** Whether a host may get the baggage, id and deadline of a request. */
export type TrustedHosts = (hostname: string) => boolean;

/** As undici, which is inside `fetch`, announces a request. */
interface UndiciRequest {
  readonly origin: string | URL;
  readonly path: string;
  readonly method: string;
  /** Names and values by turns, or lines; as the version of undici has it. */
  readonly headers: readonly unknown[] | string;
  addHeader(name: string, value: string): void;
}

/** What only trusted hosts get. */
const restricted = new Set(['baggage', 'x-request-id', 'x-request-deadline']);

/**
 * Has every request that a service sends inside another, by `fetch` or by `node:http` and `node:https`, which axios and most
 * clients are made of, carry its trace, and to hosts that are trusted its baggage, id and deadline, as far as the caller set
 * no such header. A request whose headers are given as a list, which Node writes at once, carries nothing.
 *
 * @returns what ends it
 */
export function traceOutgoingRequests({ trusts, isCurrent, tracer = passOn }: OutgoingOptions): () => void {
  const spans = new WeakMap<object, OutgoingSpan>();
  const begin = (key: object, request: OutgoingRequest, has: (name: string) => boolean, add: AddHeader) => {
    if (!isCurrent()) return;
    const begun = tracer.begin(request);
    if (begun === undefined) return;
    if (begun.span) spans.set(key, begun.span);
    const trusted = trusts(hostnameOf(request.host));
    for (const [name, value] of Object.entries({ ...requestHeaders(getRequestContext()), ...begun.headers })) {
      if ((trusted || !restricted.has(name)) && !has(name)) add(name, value);
    }
  };
  return listen({
    'undici:request:create': ({ request }: { request: UndiciRequest }) => {
      const names = headerNames(request.headers);
      begin(
        request,
        describeUndici(request),
        (name) => names.has(name),
        (name, value) => request.addHeader(name, value),
      );
    },
    'undici:request:headers': ({ request, response }: UndiciAnswer) =>
      spans.get(request)?.answered(response.statusCode),
    'undici:request:trailers': ({ request }: { request: object }) => spans.get(request)?.ended(),
    'undici:request:error': ({ request, error }: Failure) => spans.get(request)?.failed(error),
    'http.client.request.created': ({ request }: { request: ClientRequest }) => {
      if (request.headersSent) return;
      begin(
        request,
        describeHttp(request),
        (name) => request.hasHeader(name),
        (name, value) => request.setHeader(name, value),
      );
    },
    'http.client.response.finish': ({ request, response }: { request: object; response: IncomingMessage }) => {
      spans.get(request)?.answered(response.statusCode ?? 0);
      spans.get(request)?.ended();
    },
    'http.client.request.error': ({ request, error }: Failure) => spans.get(request)?.failed(error),
  });
}

type AddHeader = (name: string, value: string) => void;
type UndiciAnswer = { request: object; response: { statusCode: number } };
type Failure = { request: object; error: unknown };

/** Passes on what the request under way came with. */
export const passOn: OutgoingTracer = {
  begin() {
    const context = getRequestContext();
    return context && { headers: traceHeaders(context) ?? {} };
  },
};

function requestHeaders(context: RequestContext | undefined): Record<string, string> {
  if (context === undefined) return {};
  const { requestId, deadline } = context;
  return { 'x-request-id': requestId, ...(deadline !== undefined && { 'x-request-deadline': String(deadline) }) };
}

function listen(listeners: Record<string, (message: never) => void>): () => void {
  const entries = Object.entries(listeners) as [string, (message: unknown) => void][];
  for (const [channel, listener] of entries) subscribe(channel, listener);
  return () => {
    for (const [channel, listener] of entries) unsubscribe(channel, listener);
  };
}

function describeUndici({ origin, path, method }: UndiciRequest): OutgoingRequest {
  const [protocol = '', , host = ''] = String(origin).split('/');
  return { method, protocol, host, path };
}

function describeHttp(request: ClientRequest): OutgoingRequest {
  const { method, protocol, path } = request;
  return { method, protocol, host: String(request.getHeader('host') ?? request.host), path };
}

/** Without port, and without the brackets of IPv6. */
function hostnameOf(host: string): string {
  return /^\[([^\]]*)\]/.exec(host)?.[1] ?? host.replace(/:\d*$/, '');
}

function headerNames(headers: UndiciRequest['headers']): Set<string> {
  const names =
    typeof headers === 'string'
      ? headers.split('\r\n').map((line) => line.slice(0, line.indexOf(':')))
      : headers.filter((_, index) => index % 2 === 0);
  return new Set(names.map((name) => String(name).toLowerCase()));
}
