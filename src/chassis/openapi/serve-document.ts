import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { Json } from './deep-merge.ts';

/** Serves a document as JSON, written once; a client that has it already gets 304. */
export function serveDocument(document: Json): RequestHandler {
  const body = Buffer.from(JSON.stringify(document));
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    ETag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`,
    'Cache-Control': 'no-cache',
  };
  return (_request, response) => {
    response.set(headers).send(body);
  };
}
