import compression from 'compression';
import type { RequestHandler } from 'express';

/**
 * Compresses responses of 1 KB and more (spec.md: Loaders, HTTP configuration). A request without Accept-Encoding
 * passes untouched, because the wrapping of a response costs as much as a small request.
 */
export function compressResponses(): RequestHandler {
  const compress = compression();
  return function compressResponse(req, res, next) {
    if (req.headers['accept-encoding'] === undefined) next();
    else compress(req, res, next);
  };
}
