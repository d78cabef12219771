import type { Response } from 'express';
import type { RequestContext } from '../context/request-context.ts';
import { ForbiddenException, InternalServerErrorException, RequestAbandonedException } from '../errors/exceptions.ts';

/** What is stored of an answer. */
interface StoredAnswer {
  status: number;
  headers: Readonly<Record<string, number | string | string[]>>;
  /** Base64. */
  body: string;
}

interface CaptureOptions {
  context: Pick<RequestContext, 'abortReason'>;
  /** The longest body that is kept. */
  mostBytes: number;
}

/** Headers of one connection or moment, which each response sets itself. */
const ownHeaders: ReadonlySet<string> = new Set(['connection', 'content-length', 'date', 'transfer-encoding']);

/**
 * Runs what answers a request, and keeps the answer back: nothing is sent until `send` is called.
 *
 * @param handle is given what `next` is to handlers
 * @returns the answer; undefined when nothing answered
 * @throws what `handle` fails with, with the headers as they were; InternalServerErrorException for a longer body
 */
export async function captureAnswer(
  res: Response,
  { context, mostBytes }: CaptureOptions,
  handle: (next: (error?: unknown) => void) => void,
): Promise<StoredAnswer | undefined> {
  const { write, end, writeHead, flushHeaders, statusCode } = res;
  const before = { ...res.getHeaders() };
  const { promise, resolve, reject } = Promise.withResolvers<StoredAnswer | undefined>();
  const pieces: Buffer[] = [];
  let length = 0;
  const keep = (chunk: unknown, encoding: unknown) => {
    if (chunk === undefined || chunk === null || typeof chunk === 'function') return;
    const piece = Buffer.from(chunk as string, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
    length += piece.length;
    if (length > mostBytes) reject(tooLong(mostBytes));
    else pieces.push(piece);
  };
  const overrides = {
    writeHead(status: number, ...rest: unknown[]) {
      res.statusCode = status;
      for (const [name, value] of Object.entries(rest.at(-1) ?? {})) res.setHeader(name, value as string);
      return res;
    },
    flushHeaders: () => undefined,
    write(chunk: unknown, encoding: unknown) {
      keep(chunk, encoding);
      return true;
    },
    end(chunk: unknown, encoding: unknown) {
      // The answer that a request gets which takes too long is no answer of its handlers.
      if (context.abortReason !== undefined) {
        reject(new RequestAbandonedException(context.abortReason));
        return Reflect.apply(end, res, [chunk, encoding]);
      }
      keep(chunk, encoding);
      resolve({
        status: res.statusCode,
        headers: changedHeaders(before, res.getHeaders()),
        body: Buffer.concat(pieces).toString('base64'),
      });
      return res;
    },
  };
  Object.assign(res, overrides);
  try {
    handle((error) => (error === undefined ? resolve(undefined) : reject(error)));
    return await promise;
  } finally {
    Object.assign(res, { write, end, writeHead, flushHeaders });
    if (!res.headersSent) restore(res, before, statusCode);
  }
}

/** Headers and status as they were before the handlers ran. */
function restore(res: Response, before: object, statusCode: number): void {
  for (const name of res.getHeaderNames()) if (!(name in before)) res.removeHeader(name);
  for (const [name, value] of Object.entries(before)) if (value !== undefined) res.setHeader(name, value);
  res.statusCode = statusCode;
}

/**
 * An answer as it is stored: without cookies, which are secrets of one client and moment.
 *
 * @param rights a hash of those of the caller that it was made for
 */
export function storedForm(answer: StoredAnswer, rights: string): string {
  const { 'set-cookie': _cookies, ...headers } = answer.headers;
  return JSON.stringify({ ...answer, headers, rights });
}

/**
 * Sends an answer that was stored.
 *
 * @param rights a hash of those that its caller has now
 * @throws ForbiddenException where they are others than those that it was made for
 */
export function replayStored(res: Response, stored: string, rights: string): void {
  const answer = JSON.parse(stored) as StoredAnswer & { rights?: string };
  // Those of before this was looked at have none.
  if (answer.rights !== undefined && answer.rights !== rights)
    throw new ForbiddenException('Your rights have changed since the first request with this Idempotency-Key');
  res.setHeader('Idempotent-Replayed', 'true');
  sendCaptured(res, answer);
}

/** Sends an answer that was captured. */
export function sendCaptured(res: Response, { status, headers, body }: StoredAnswer): void {
  const bytes = Buffer.from(body, 'base64');
  res.statusCode = status;
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  if (status !== 204 && status !== 304) res.setHeader('content-length', bytes.length);
  res.end(bytes);
}

function changedHeaders(before: object, after: object): StoredAnswer['headers'] {
  const known = before as Record<string, unknown>;
  const changed = Object.entries(after).filter(([name, value]) => !ownHeaders.has(name) && known[name] !== value);
  return Object.fromEntries(changed) as StoredAnswer['headers'];
}

function tooLong(mostBytes: number): InternalServerErrorException {
  return new InternalServerErrorException(
    `Expected of an idempotent route an answer of at most ${mostBytes} bytes, found a longer one; answer with less, or without idempotent().`,
  );
}
