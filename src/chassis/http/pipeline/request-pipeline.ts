import type { ServerResponse } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import { runWithRequestContext, type Scope } from '../../context/request-context.ts';
import type { RequestObserver } from '../../context/request-observer.ts';
import { malformedUrl } from '../../errors/convert-http-error.ts';
import { BadRequestException } from '../../errors/exceptions.ts';
import type { LogMasks } from '../../telemetry/log-masks.ts';
import { type AnswerHeaders, noAnswerHeaders } from '../answers/answer-headers.ts';
import { requestContextOf } from './request-context-of.ts';
import { routeTemplate } from './route-table.ts';

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
 * `X-Request-Id` (spec.md: Other records). An inbound id is taken if it is 1 to 128 characters of `[A-Za-z0-9._-]`.
 * A path with malformed percent-encoding is a 400. Observers see the request begin here, and its end.
 */
export function requestPipeline(options: PipelineOptions = {}): RequestHandler {
  const { service, observers = [], masks, headers = noAnswerHeaders } = options;
  return function openRequest(req: PipelinedRequest, res, next) {
    const context = requestContextOf(req, masks);
    req[observersKey] = observers;
    res.setHeader('x-request-id', context.requestId);
    headers.apply(res);
    for (const observer of observers) observer.opened?.(context, req, res);
    res.on('close', closeRequest);
    const refusal = hasReadablePath(req.url) ? undefined : new BadRequestException(malformedUrl);
    runWithRequestContext(context, () => next(refusal), service);
  };
}

/** One function for all requests: Node calls it with the response as `this`. */
function closeRequest(this: Response): void {
  const req = this.req as PipelinedRequest;
  const context = requestContextOf(req);
  const aborted = !this.writableFinished;
  if (aborted) context.abort('The client went away before the answer was complete');
  const route = routeTemplate(req) ?? context.route;
  const outcome = { seconds: context.seconds, status: answerStatus(this), aborted, route };
  for (const observer of req[observersKey] ?? []) observer.closed?.(context, req, this, outcome);
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

/** The status of a request whose client went away before the answer had begun, as proxies count it. */
const clientClosedRequest = 499;

/** The status that a request ended with, for logs and metrics; to be asked once it is over. */
export function answerStatus(res: ServerResponse): number {
  return res.headersSent ? res.statusCode : clientClosedRequest;
}
