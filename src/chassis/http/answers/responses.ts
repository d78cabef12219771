import type { ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import { paginationLinks } from '../../query/paging.ts';
import type { PageResult } from '../../query/query-types.ts';

/** Answers `{"success":true,"data":…}`. */
export function sendData(res: Response, status: number, data: unknown): void {
  sendJsonResponse(res, status, { success: true, data });
}

/**
 * Answers a page: `data`, `page`, `pageSize` and `total` beside `success` (spec.md: Paginated result), `nextCursor` on
 * cursor paging, and a `Link` header (RFC 8288) to the pages around it.
 */
export function sendPage(req: Request, res: Response, page: PageResult): void {
  const links = paginationLinks(req.originalUrl, page);
  if (links !== '') res.setHeader('Link', links);
  const { data, page: number, pageSize, total, nextCursor } = page;
  sendJsonResponse(res, 200, { success: true, data, page: number, pageSize, total, nextCursor });
}

/** Answers 204 without a body. */
export function sendNoContent(res: Response): void {
  res.statusCode = 204;
  res.end();
}

/** Writes a JSON body in one piece, with its length, without an etag. */
export function sendJsonResponse(res: ServerResponse, status: number, body: object): void {
  const text = toJson(body);
  res.statusCode = status;
  res.setHeader('content-type', 'application/json; charset=utf-8');
  res.setHeader('content-length', Buffer.byteLength(text));
  res.end(text);
}

/** A big integer is sent as a string, because a number of JSON loses its digits in many clients. */
function toJson(body: object): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    // Nothing is looked at one by one, which takes several times as long, but where there is a big integer.
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(body, (_key, value) => (typeof value === 'bigint' ? String(value) : value));
  }
}
