import type { RequestHandler } from 'express';
import { KeptAnswer, tagOf } from '../http/answers/kept-answer.ts';
import type { Json } from './deep-merge.ts';

/** Serves a document as JSON, written and compressed once; a client that has it already gets 304. */
export function serveDocument(document: Json): RequestHandler {
  const body = Buffer.from(JSON.stringify(document));
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    // Weak, because it is one for both forms of the document.
    ETag: `W/${tagOf(body)}`,
  };
  const kept = new KeptAnswer(async () => body);
  return async (request, response) => {
    response.set(headers).set('Cache-Control', 'no-cache');
    await kept.answer(request, response);
  };
}
