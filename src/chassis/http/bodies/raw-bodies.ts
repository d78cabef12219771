import type { IncomingMessage } from 'node:http';
import type { Express, Request, RequestHandler } from 'express';
import { InternalServerErrorException } from '../../errors/exceptions.ts';
import { routePattern } from '../pipeline/yield-to-specific.ts';
import { hasBody } from './request-body.ts';

const mark = Symbol('reads the bytes of the body');
const rawKey = Symbol('reads the bytes of the body once');

type RawRequest = IncomingMessage & { [rawKey]?: () => Promise<Buffer> };

const rawRoutes = new WeakMap<Express, RegExp[]>();

/** Says of a handler that it asks for the bytes of the body, which only the routes that it stands in then keep. */
export function readingRawBody<H extends RequestHandler>(handler: H): H {
  return Object.assign(handler, { [mark]: true });
}

/** Whether `readingRawBody` said so. */
export function readsRawBody(handler: unknown): boolean {
  return (handler as { [mark]?: boolean })[mark] === true;
}

/** Has the bodies of a route be left to it, unread. */
export function keepRawBody(app: Express, { method, path }: { method: string; path: string }): void {
  const known = rawRoutes.get(app) ?? [];
  rawRoutes.set(app, [...known, new RegExp(`^${method} ${routePattern(path)}`, 'i')]);
}

/** Whether a request is for a route of `keepRawBody`. */
export function rawRouteOf(app: Express): (req: Request) => boolean {
  return (req) => rawRoutes.get(app)?.some((route) => route.test(`${req.method} ${req.path}`)) === true;
}

/** Leaves it to the route to read the bytes; they are read once, and given again. */
export function leaveRawBody(req: RawRequest, read: () => Promise<Buffer>): () => Promise<Buffer> {
  let reading: Promise<Buffer> | undefined;
  req[rawKey] = () => {
    reading ??= read();
    return reading;
  };
  return req[rawKey];
}

/** The bytes of the body, as they were signed. @throws what reading a body raises; InternalServerErrorException where they were not kept */
export async function rawBody(req: RawRequest & Request): Promise<Buffer> {
  const read = req[rawKey];
  if (read) return read();
  if (!hasBody(req)) return Buffer.alloc(0);
  throw new InternalServerErrorException(
    `Expected the bytes of the body of ${req.method} ${req.path}, which were not kept; name the step that reads them in the route itself, whose path has no wildcard.`,
  );
}
