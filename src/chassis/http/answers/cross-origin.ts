import cors from 'cors';
import type { RequestHandler } from 'express';

const exposedHeaders = [
  'X-Request-Id',
  'Link',
  'Location',
  'X-Result-Limit',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
];
const preflightSeconds = 600;

/**
 * Answers preflights (spec.md: Loaders, HTTP configuration). The headers of all other requests are constant for each
 * origin: `AnswerHeaders` has them.
 *
 * @param origins such as `https://app.example.com`; `*` among them means any
 */
export function answerPreflights(origins: readonly string[]): RequestHandler {
  const middleware = crossOriginMiddleware(origins);
  return function answerPreflight(req, res, next) {
    if (req.method !== 'OPTIONS' || req.headers['access-control-request-method'] === undefined) return next();
    middleware(req, res, next);
  };
}

/** Sets the headers of cross-origin resource sharing. Credentials are never allowed: tokens travel in `Authorization`. */
export function crossOriginMiddleware(origins: readonly string[]): RequestHandler {
  const allowed = origins.map(normalizeOrigin);
  return cors({ origin: allowed.includes('*') ? '*' : allowed, exposedHeaders, maxAge: preflightSeconds });
}

/** Browsers send origins in lower case and without a final slash. */
export function normalizeOrigin(origin: string): string {
  return origin.trim().replace(/\/+$/, '').toLowerCase();
}
