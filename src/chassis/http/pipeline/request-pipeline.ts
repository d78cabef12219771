import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Express, IRoute, NextFunction, Request, RequestHandler } from 'express';
import { runWithRequestContext, type Scope } from '../../context/request-context.ts';
import type { RequestObserver } from '../../context/request-observer.ts';
import { malformedUrl } from '../../errors/convert-http-error.ts';
import { BadRequestException, BaseException, InternalServerErrorException } from '../../errors/exceptions.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { LogMasks } from '../../telemetry/redact.ts';
import { type AnswerHeaders, answerHeadersOf, noAnswerHeaders } from '../answers/answer-headers.ts';
import type { RefusalOptions } from '../answers/client-error.ts';
import { sendFailure } from '../answers/send-failure.ts';
import { requestContextOf, requestIdOf } from './request-context-of.ts';

const observersKey = Symbol('request observers');

type PipelinedRequest = Request & { [observersKey]?: readonly RequestObserver[] };

/** Whose requests a pipeline opens, as far as it is a service's. */
interface PipelineOptions {
  /** The service that the requests belong to; by default the one that the listener runs in. */
  service?: Scope['service'];
  /** See every request; one that is added later sees those that come after. */
  observers?: readonly RequestObserver[];
  /** What is masked in URLs beside what always is. */
  masks?: LogMasks;
  /** What every answer carries, whatever becomes of the request; none by default. */
  headers?: AnswerHeaders;
}

/**
 * The first step of every request: makes its context, in which all later steps run, and answers with its id in
 * `X-Request-Id` (spec.md: Other records). An inbound id is taken if it is 1 to 128 characters of `[A-Za-z0-9._-]` and no
 * token or key by its form. A path with malformed percent-encoding is a 400. Observers see the request begin here, and its end.
 */
export function requestPipeline(options: PipelineOptions = {}): RequestHandler {
  const { service, observers = [], masks, headers = noAnswerHeaders } = options;
  return function openRequest(req: PipelinedRequest, res, next) {
    const context = requestContextOf(req, masks);
    req[observersKey] = observers;
    res.setHeader('x-request-id', context.requestId);
    headers.apply(res);
    for (const observer of observers) observer.opened?.(context, req, res);
    if (observers[0]?.closesFirst) res.prependListener('close', closeFirst);
    else onClose(res, closeRequest);
    const refusal = hasReadablePath(req.url) ? undefined : new BadRequestException(malformedUrl);
    runWithRequestContext(context, () => next(refusal), service);
  };
}

/** Node calls it with the response as `this`. */
function closeFirst(this: ServerResponse): void {
  closeRequest(this);
}

function closeRequest(res: ServerResponse): void {
  const req = res.req as PipelinedRequest;
  const context = requestContextOf(req);
  const aborted = !res.writableFinished;
  if (aborted) context.abort('The client went away before the answer was complete');
  const route = routeTemplate(req) ?? context.route;
  const outcome = { seconds: context.seconds, status: answerStatus(res), aborted, route };
  for (const observer of req[observersKey] ?? []) observer.closed?.(context, req, res, outcome);
  if (!aborted) context.end();
}

function hasReadablePath(url: string): boolean {
  const query = url.indexOf('?');
  const percent = url.indexOf('%');
  if (percent === -1 || (query !== -1 && query < percent)) return true;
  try {
    // Compared, because a bundler may leave out a call whose value nobody uses.
    return decodeURIComponent(query === -1 ? url : url.slice(0, query)) !== undefined;
  } catch {
    return false;
  }
}

/** The status of a request whose client went away before the answer had begun, as proxies count it. */
const clientClosedRequest = 499;

/** The status that a request ended with, for logs and metrics; to be asked once it is over. */
function answerStatus(res: ServerResponse): number {
  return res.headersSent ? res.statusCode : clientClosedRequest;
}

/** Lets a request in and begins it, now or later, or answers it. */
export type Gate = (req: IncomingMessage, res: ServerResponse, begin: () => void) => void;

/** Has requests wait for their turn on their connection. */
export interface Turns {
  /** Begins a request once the ones before it are answered, or never: its connection may close or be cut before. */
  wait(res: ServerResponse, begin: () => void): void;
}

/** Whether a request came before the one before it on its connection was answered: Node holds its answer until then. */
export function isQueued({ socket, headersSent }: ServerResponse): boolean {
  return socket === null && !headersSent;
}

/** What stands between a server and an app. */
interface ListenerOptions {
  logger: Logger;
  /** By default requests that came early on their connection begin at once. */
  turns?: Turns | undefined;
  /** Sees each request before the app does; by default all are let in. */
  admits?: Gate | undefined;
}

/** What a name or a value of a header field takes of memory beside its characters, in bytes: measured, on Node 24. */
export const fieldBytes = 72;

/** A request is served that has fewer header fields; Apache takes as many. */
const mostFields = 100;

/**
 * Has a server keep no more header fields of a request than it takes: hundreds of empty ones fit into Node's bound on their
 * bytes, and take 90 KB of memory where those of a browser take 4.
 */
export function boundFields(server: Server): void {
  server.maxHeadersCount = mostFields;
}

/** Whether a request has so many header fields that some may not have been kept. */
function hasTooManyFields({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.length >= mostFields * 2;
}

/** What such a request is refused with. */
function tooManyFields(): BaseException {
  return new BaseException(`The request has ${mostFields} header fields or more`, 431);
}

const wholeTarget = /^https?:\/\/[^/?#]*/i;

/**
 * An app as a listener of `createServer`. Express hands a request whose target it cannot parse, such as `http://[`, to
 * no step at all and would answer it with an HTML page; here it gets a 400 in the one error body, and what the error
 * handler of the app passed on gets a 500. Of a target with scheme and host, as sent to proxies, the path counts, so
 * that no link of an answer leads to a host that the client made up.
 */
export function requestListener(app: Express, { logger, turns, admits = letIn }: ListenerOptions): RequestListener {
  const handle = app as unknown as (req: IncomingMessage, res: ServerResponse, next: NextFunction) => void;
  const refusal = { headers: answerHeadersOf(app), logger };
  return beginInTurn(turns, (req, res) => {
    const next = (error?: unknown) => answer(res, refusal, error);
    // HTTP/1.0 has no Host header either, and is let in. Of a line of HTTP/0.9 a proxy may make two requests.
    if (req.httpVersion === '0.9' || (req.headers.host === undefined && req.httpVersion === '1.1')) return next();
    if (hasSecondHost(req) || hasChunksInHttp10(req)) return next();
    if (hasTooManyFields(req)) return refuse(res, refusal, tooManyFields());
    if (req.url?.startsWith('/') === false && URL.canParse(req.url)) req.url = pathOf(req.url);
    admits(req, res, () => handle(req, res, next));
  });
}

const letIn: Gate = (_req, _res, begin) => begin();

/** A listener whose requests begin in their turn; at once without `turns`. */
export function beginInTurn(turns: Turns | undefined, begin: RequestListener): RequestListener {
  if (turns === undefined) return begin;
  return (req, res) => {
    if (isQueued(res)) turns.wait(res, () => begin(req, res));
    else begin(req, res);
  };
}

/** For `server.on('checkExpectation', …)`: an expectation that cannot be met is a 417 in the one error body. */
export function refuseExpectations(options: RefusalOptions, turns?: Turns): RequestListener {
  return beginInTurn(turns, function refuseExpectation(_req, res) {
    refuse(res, options, new BaseException('Only the expectation 100-continue is met', 417));
  });
}

/** With two Host headers a proxy and the service may read different ones (RFC 9112, 3.2). Node keeps the first. */
function hasSecondHost({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

/** HTTP/1.0 knows no Transfer-Encoding: a proxy of it takes the chunks for further requests (RFC 9112, 6.1). */
function hasChunksInHttp10({ headers, httpVersion }: IncomingMessage): boolean {
  return httpVersion === '1.0' && headers['transfer-encoding'] !== undefined;
}

function pathOf(target: string): string {
  const rest = target.replace(wholeTarget, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function answer(res: ServerResponse, options: RefusalOptions, error: unknown): void {
  const exception: BaseException = error
    ? new InternalServerErrorException(undefined, undefined, { cause: error })
    : new BadRequestException(
        'The request has no Host header or two, chunks in HTTP/1.0, or a target that is not a valid URL',
      );
  refuse(res, options, exception, error);
}

function refuse(res: ServerResponse, { headers, logger }: RefusalOptions, exception: BaseException, error?: unknown) {
  const { req } = res;
  const requestId = res.getHeader('x-request-id') ?? requestIdOf(req);
  logger[error ? 'error' : 'warn']({ requestId, method: req.method, err: error }, exception.message);
  if (res.headersSent) return void res.destroy();
  res.setHeader('x-request-id', requestId);
  headers.apply(res);
  res.setHeader('connection', 'close');
  sendFailure(res, exception, true);
}

// Express keeps the matched route on the request, also after an error, but resets baseUrl: so templates hang on routes.
// A router that a file exports is one object for all services, so each app has its own template for it.
const templates = new WeakMap<object, WeakMap<object, string>>();

/** Remembers the full template that a route has on an app, for `routeTemplate`. */
export function rememberTemplate(app: object, route: IRoute, template: string): void {
  const known = templates.get(app) ?? new WeakMap<object, string>();
  templates.set(app, known);
  known.set(route, template);
}

/** The full template of the route that serves a request; undefined while none matched. */
export function routeTemplate(request: Request): string | undefined {
  if (request.route === undefined) return undefined;
  // Routes that the chassis itself declares on the app have no prefix.
  return templates.get(request.app)?.get(request.route) ?? String(request.route.path);
}

/** Names what serves a request that no route takes, such as files below a path, for logs, spans and metrics. */
export function nameRoute(template: string): RequestHandler {
  return function setRoute(req, _res, next) {
    requestContextOf(req).route = template;
    next();
  };
}

/** Hears that a response is over: its last byte was handed over, or its connection has ended. */
type CloseListener = (res: ServerResponse) => void;

const listenersKey = Symbol('close listeners');

type HeardResponse = ServerResponse & { [listenersKey]?: CloseListener[] };

/** Node's 10 for the author of a handler, and those of the chassis: this one, and that of `compression`. */
const mostListeners = 12;

/**
 * Calls `listener` once when a response is over, in the order of the calls. A response has one listener of `close` for all
 * of the chassis: `pipeline` adds seven, and Node warns of the eleventh.
 */
export function onClose(res: HeardResponse, listener: CloseListener): void {
  const known = res[listenersKey];
  if (known !== undefined) {
    known.push(listener);
    return;
  }
  res[listenersKey] = [listener];
  res.setMaxListeners(mostListeners);
  res.on('close', callListeners);
}

/** One function for all responses: Node calls it with the response as `this`. */
function callListeners(this: HeardResponse): void {
  for (const listener of this[listenersKey] ?? []) listener(this);
}
