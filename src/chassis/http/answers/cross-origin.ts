import cors from 'cors';
import type { RequestHandler } from 'express';
import { applyHeaders, recordHeaders } from './constant-headers.ts';

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

/** Who may call from a browser. */
export interface CrossOriginOptions {
  /** Origins such as `https://app.example.com`; `*` among them means any. */
  origins: readonly string[];
}

/**
 * Cross-origin resource sharing (spec.md: Loaders, HTTP configuration). Preflights are answered here; on all other
 * requests only headers are set, which are computed once per origin. Credentials are never allowed: tokens travel in
 * `Authorization`.
 */
export function crossOrigin({ origins }: CrossOriginOptions): RequestHandler {
  const allowed = origins.map(normalizeOrigin);
  const any = allowed.includes('*');
  const middleware = cors({ origin: any ? '*' : allowed, exposedHeaders, maxAge: preflightSeconds });
  const others = recordHeaders(middleware);
  const byOrigin = new Map(any ? [] : allowed.map((origin) => [origin, recordHeaders(middleware, { origin })]));
  return function shareAcrossOrigins(req, res, next) {
    if (req.method === 'OPTIONS' && req.headers['access-control-request-method'] !== undefined) {
      middleware(req, res, next);
      return;
    }
    applyHeaders(res, byOrigin.get(req.headers.origin ?? '') ?? others);
    next();
  };
}

/** Browsers send origins in lower case and without a final slash. */
function normalizeOrigin(origin: string): string {
  return origin.trim().replace(/\/+$/, '').toLowerCase();
}
