import { AsyncResource } from 'node:async_hooks';
import type { Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Request, Response } from 'express';
import { inPieces } from '../../query/in-pieces.ts';
import { paginationLinks, StoredJson, unreadData } from '../../query/paging/paging.ts';
import type { PageResult, Pause } from '../../query/query-types.ts';

/** Answers `{"success":true,"data":…}`. */
export function sendData(res: Response, status: number, data: unknown): void {
  if (data instanceof StoredJson) sendJson(res, status, storedBody(data, '}'));
  else sendJsonResponse(res, status, { success: true, data });
}

/**
 * Answers a page: `data`, `page`, `pageSize` and `total` beside `success` (spec.md: Paginated result), `nextCursor` on
 * cursor paging, and a `Link` header (RFC 8288) to the pages around it.
 */
export function sendPage(req: Request, res: Response, page: PageResult): void {
  sendPageOf(unreadData(page), req, res, page);
}

/** The same with the JSON of its records, where that was made. */
export function sendPageOf(stored: StoredJson | undefined, req: Request, res: Response, page: PageResult): void {
  const { page: number, pageSize, total, nextCursor } = page;
  const rest = { page: number, pageSize, total, ...(nextCursor !== undefined && { nextCursor }) };
  const data = stored ?? page.data;
  const links = paginationLinks(req.originalUrl, { ...rest, data });
  if (links !== '') res.setHeader('Link', links);
  if (stored) sendJson(res, 200, storedBody(stored, `,${JSON.stringify(rest).slice(1)}`));
  else sendJsonResponse(res, 200, { success: true, data, ...rest });
}

/** The JSON of records, made some at a time. @param pause is waited for after some of them, where they are long */
export async function jsonOf(records: readonly object[], pause: Pause): Promise<StoredJson> {
  return new StoredJson(await inPieces(records, toJson, (_record, text) => text.length, pause), true);
}

/** Answers 304 without a body: what the client has is still so. */
export function sendNotModified(res: Response): void {
  res.statusCode = 304;
  res.end();
}

/** Answers 204 without a body. */
export function sendNoContent(res: Response): void {
  res.statusCode = 204;
  res.end();
}

/** Writes a JSON body in one piece, with its length, without an etag. */
export function sendJsonResponse(res: ServerResponse, status: number, body: object): void {
  sendJson(res, status, toJson(body));
}

/** Bodies of this length and more are kept for all who share the records, in characters. */
const longBody = 16_384;
const longBodies = new WeakMap<StoredJson, { tail: string; bytes: Buffer }>();

/** The body of an answer; a long one as bytes, of which hundreds of equal answers under way hold the same ones. */
function storedBody(stored: StoredJson, tail: string): string | Buffer {
  if (stored.chars < longBody) return `{"success":true,"data":${stored.json}${tail}`;
  const known = longBodies.get(stored);
  if (known?.tail === tail) return known.bytes;
  const bytes = longBodyOf(stored, tail);
  longBodies.set(stored, { tail, bytes });
  return bytes;
}

/** Written record by record: one text of them all would take as much memory again, and a second time where it is put into another. */
function longBodyOf({ texts, isList }: StoredJson, tail: string): Buffer {
  const [before, after] = isList ? ['{"success":true,"data":[', `]${tail}`] : ['{"success":true,"data":', tail];
  let size = before.length + Buffer.byteLength(after) + Math.max(0, texts.length - 1);
  for (const text of texts) size += Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafeSlow(size);
  let at = bytes.write(before);
  for (const [index, text] of texts.entries()) {
    if (index > 0) at += bytes.write(',', at);
    at += bytes.write(text, at);
  }
  bytes.write(after, at);
  return bytes;
}

/** Answers of more bytes are few, and what a client asks of is remembered to give them. */
const veryLongBody = 1_000_000;
const veryLong = new WeakMap<ServerResponse, number>();

/** How many bytes of JSON an answer was made with, if more than a million; else undefined. */
export function veryLongBodyOf(res: ServerResponse): number | undefined {
  return veryLong.get(res);
}

function sendJson(res: ServerResponse, status: number, body: string | Buffer): void {
  res.statusCode = status;
  res.setHeader('content-type', 'application/json; charset=utf-8');
  const bytes = Buffer.byteLength(body);
  if (bytes > veryLongBody) veryLong.set(res, bytes);
  res.setHeader('content-length', bytes);
  res.end(body);
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

/** Answers that wait for each other, at most. */
const mostTogether = 32;
/** Longer ones are written at once: to copy them takes longer than to wake who reads them. */
const shortChars = 65_536;

type Done = (error?: Error | null) => void;

const waitingKey = Symbol('write that waits for the end of the turn');
const beginsKey = Symbol('what is written next begins an answer');

type WaitingSocket = Socket & { [waitingKey]?: WaitingWrite | undefined; [beginsKey]?: boolean };

/** A write that waits for the end of the turn, in the asynchronous context that it was asked for in. */
class WaitingWrite extends AsyncResource {
  readonly #socket: WaitingSocket;
  readonly #data: string | Buffer;
  readonly #encoding: BufferEncoding;
  readonly #done: Done;

  constructor(socket: Socket, data: string | Buffer, encoding: BufferEncoding, done: Done) {
    super('WaitingWrite');
    this.#socket = socket;
    this.#data = data;
    this.#encoding = encoding;
    this.#done = done;
    this.#socket[waitingKey] = this;
  }

  /** What listens for the end of the answer runs in the context of its own request. Nothing is written twice. */
  write(): void {
    if (this.#socket[waitingKey] !== this) return;
    this.#socket[waitingKey] = undefined;
    this.runInAsyncScope(Socket.prototype._write, this.#socket, this.#data, this.#encoding, this.#done);
  }
}

/**
 * Has a server write the answers that it gives in one turn of the event loop one after the other at its end, at most 32.
 * To write wakes a client, or the proxy beside the service, that sleeps; one that is woken by the first finds the others when
 * it has taken that, and falls asleep once, not after each. Under load that halves what a small request costs; where a turn has one
 * answer nothing waits, and of a stream only the first piece does.
 *
 * @param longestWaitMs how long the first of them waits for handlers of the same turn, in milliseconds, unless one of those takes longer
 */
export function writeTogether(server: Server, longestWaitMs = 2): void {
  let waiting: WaitingWrite[] = [];
  let waitingSince = 0;

  function writeAll(): void {
    const writes = waiting;
    waiting = [];
    let begun = 0;
    try {
      for (const write of writes) {
        begun += 1;
        write.write();
      }
    } finally {
      // What listens for the end of one answer may throw, and the others are owed to their clients.
      if (begun < writes.length) {
        waiting = [...writes.slice(begun), ...waiting];
        setImmediate(writeAll);
      }
    }
  }

  function writeAtEnd(this: WaitingSocket, data: string | Buffer, encoding: BufferEncoding, done: Done): void {
    const begins = this[beginsKey];
    this[beginsKey] = false;
    if (!begins || data.length > shortChars) {
      Socket.prototype._write.call(this, data, encoding, done);
      return;
    }
    const count = waiting.push(new WaitingWrite(this, data, encoding, done));
    const now = performance.now();
    if (count === 1) {
      waitingSince = now;
      setImmediate(writeAll);
    } else if (count === mostTogether || now - waitingSince > longestWaitMs) {
      waitingSince = Number.POSITIVE_INFINITY;
      process.nextTick(writeAll);
    }
  }

  server.prependListener('connection', (socket: Socket) => {
    socket._write = writeAtEnd;
    socket._destroy = destroyWritten;
  });
  server.prependListener('request', ({ socket }: { socket: WaitingSocket }) => {
    socket[beginsKey] = true;
  });
  // Node takes a connection for idle whose answer has ended.
  for (const name of ['closeIdleConnections', 'closeAllConnections'] as const) {
    const close = server[name];
    server[name] = function closeWritten() {
      writeAll();
      close.call(server);
    };
  }
}

/** What was answered before a connection is destroyed in the same turn is written, as it is where nothing waits. */
function destroyWritten(this: WaitingSocket, error: Error | null, done: (error?: Error | null) => void): void {
  this[waitingKey]?.write();
  Socket.prototype._destroy.call(this, error, done);
}
