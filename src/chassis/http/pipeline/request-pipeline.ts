import type { Request, RequestHandler, Response } from 'express';
import { OpenRequest } from '../../context/open-request.ts';
import { type RequestContext, runWithRequestContext } from '../../context/request-context.ts';
import { malformedUrl } from '../../errors/convert-http-error.ts';
import { BadRequestException } from '../../errors/exceptions.ts';
import { redactUrl } from '../../telemetry/redact.ts';
import { readDeadline } from './request-deadline.ts';
import { requestIdOf } from './request-id.ts';
import { requestObservers } from './request-observers.ts';
import { routeTemplate } from './route-table.ts';

const maximumUrlLength = 2_048;
const contextKey = Symbol('request context');
const observersKey = Symbol('request observers');

type PipelinedRequest = Request & { [contextKey]?: OpenRequest; [observersKey]?: typeof observers };

const observers = requestObservers();

/**
 * The first step of every request: makes its context, in which all later steps run, and answers with its id in
 * `X-Request-Id` (spec.md: Other records). An inbound id is taken if it is 1 to 128 characters of `[A-Za-z0-9._-]`.
 * A path with malformed percent-encoding is a 400. Observers see the request begin here, and its end.
 *
 * @param watching who sees the requests; those of `observeRequests` by default
 */
export function requestPipeline(watching = observers): RequestHandler {
  return function openRequest(req: PipelinedRequest, res, next) {
    const context = contextOf(req);
    req[observersKey] = watching;
    res.setHeader('x-request-id', context.requestId);
    for (const observer of watching) observer.opened?.(context, req, res);
    res.on('close', closeRequest);
    const refusal = hasReadablePath(req.url) ? undefined : new BadRequestException(malformedUrl);
    runWithRequestContext(context, () => next(refusal));
  };
}

/** The context of a request; made now where no pipeline did. Holds also in listeners that run outside the request. */
export function requestContextOf(req: Request): RequestContext {
  return contextOf(req);
}

/** One function for all requests: Node calls it with the response as `this`. */
function closeRequest(this: Response): void {
  const req = this.req as PipelinedRequest;
  const context = contextOf(req);
  const aborted = !this.writableFinished;
  if (aborted) context.abort('The client went away before the answer was complete');
  const outcome = { seconds: context.seconds, aborted, route: routeTemplate(req) ?? context.route };
  for (const observer of req[observersKey] ?? []) observer.closed?.(context, req, this, outcome);
}

function contextOf(req: PipelinedRequest): OpenRequest & RequestContext {
  req[contextKey] ??= createContext(req);
  return req[contextKey];
}

/** Secrets in the query are masked here, once, so that no log or monitor ever sees them. */
function createContext(req: Request): OpenRequest {
  return new OpenRequest({
    requestId: requestIdOf(req),
    method: req.method,
    url: redactUrl((req.originalUrl ?? req.url).slice(0, maximumUrlLength)),
    userAgent: req.headers['user-agent'],
    // Express would parse what nobody forwarded.
    ipAddress: req.headers['x-forwarded-for'] === undefined ? req.socket.remoteAddress : req.ip,
    deadline: readDeadline(req.headers['x-request-deadline']),
  });
}

function hasReadablePath(url: string): boolean {
  const query = url.indexOf('?');
  const percent = url.indexOf('%');
  if (percent === -1 || (query !== -1 && query < percent)) return true;
  try {
    decodeURIComponent(query === -1 ? url : url.slice(0, query));
    return true;
  } catch {
    return false;
  }
}
