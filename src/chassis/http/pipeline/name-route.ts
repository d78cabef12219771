import type { RequestHandler } from 'express';
import { requestContextOf } from './request-pipeline.ts';

/** Names what serves a request that no route takes, such as files below a path, for logs, spans and metrics. */
export function nameRoute(template: string): RequestHandler {
  return function setRoute(req, _res, next) {
    requestContextOf(req).route = template;
    next();
  };
}
