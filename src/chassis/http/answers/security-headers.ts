import type { RequestHandler } from 'express';
import helmet from 'helmet';
import { applyHeaders, recordHeaders } from './constant-headers.ts';

/**
 * Helmet's security headers, computed once (spec.md: Loaders, HTTP configuration). A page that needs another
 * Content-Security-Policy sets its own over this one.
 */
export function securityHeaders(): RequestHandler {
  const headers = recordHeaders(helmet() as RequestHandler);
  return function setSecurityHeaders(_req, res, next) {
    applyHeaders(res, headers);
    next();
  };
}
