import { randomUUID } from 'node:crypto';
import type { Request, RequestHandler } from 'express';
import { type RequestContext, runWithRequestContext } from '../context/request-context.ts';
import { malformedUrl } from '../errors/convert-http-error.ts';
import { BadRequestException } from '../errors/exceptions.ts';
import { redactUrl } from '../telemetry/redact.ts';

const validRequestId = /^[A-Za-z0-9._-]{1,128}$/;
const maximumUrlLength = 2_048;
const contextKey = Symbol('request context');

type RequestWithContext = Request & { [contextKey]?: RequestContext };

/**
 * The first step of every request: makes its context, in which all later steps run, and answers with its id in
 * `X-Request-Id` (spec.md: Other records). An inbound id is taken if it is 1 to 128 characters of `[A-Za-z0-9._-]`.
 * A path with malformed percent-encoding is a 400.
 */
export function requestPipeline(): RequestHandler {
  return function openRequest(req, res, next) {
    const context = createContext(req);
    (req as RequestWithContext)[contextKey] = context;
    res.setHeader('X-Request-Id', context.requestId);
    if (!hasReadablePath(req.url)) next(new BadRequestException(malformedUrl));
    else runWithRequestContext(context, next);
  };
}

/** The context of a request; made now where no pipeline did. Holds also in listeners that run outside the request. */
export function requestContextOf(req: Request): RequestContext {
  const known = (req as RequestWithContext)[contextKey];
  if (known) return known;
  const context = createContext(req);
  (req as RequestWithContext)[contextKey] = context;
  return context;
}

/** Secrets in the query are masked here, once, so that no log or monitor ever sees them. */
function createContext(req: Request): RequestContext {
  const inbound = req.headers['x-request-id'];
  const userAgent = req.headers['user-agent'];
  const ipAddress = req.ip;
  return {
    requestId: typeof inbound === 'string' && validRequestId.test(inbound) ? inbound : randomUUID(),
    method: req.method,
    url: redactUrl(req.originalUrl ?? req.url).slice(0, maximumUrlLength),
    startTime: new Date(),
    ...(userAgent !== undefined && { userAgent }),
    ...(ipAddress !== undefined && { ipAddress }),
  };
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
