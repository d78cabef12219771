import type { Express, Request } from 'express';
import { requestContextOf } from './request-pipeline.ts';

/**
 * Makes `req.signal` of an app's requests the signal of the request context: it aborts once nobody waits for the answer any
 * more. Node's own takes the closed stream of a request without a body for a client that has gone.
 */
export function requestSignal(app: Express): void {
  Object.defineProperty(app.request, 'signal', {
    configurable: true,
    get(this: Request) {
      return requestContextOf(this).signal;
    },
  });
}
