import { IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Express, NextFunction, Request, RequestHandler, Response } from 'express';
import { recheckCaller } from '../../context/request-context.ts';
import { InternalServerErrorException } from '../../errors/exceptions.ts';
import { passError, publicAccess } from '../pipeline/middleware.ts';
import { giveBack } from './body-pieces.ts';

/** Methods that come with a body; one of a type that the service does not read is refused. */
export const methodsWithBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** Whether a request brings a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** The type of a body without its parameters, in lower case; empty where the request gives none. */
export function mediaType({ headers }: IncomingMessage): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** How the text of a body is read. */
export type Reading = 'json' | 'form';

/** How the service reads bodies of a type, whatever the method; undefined for a type that it leaves to the routes. */
export function readingOf(type: string): Reading | undefined {
  if (type === 'application/json' || (type.startsWith('application/') && type.endsWith('+json'))) return 'json';
  return type === 'application/x-www-form-urlencoded' ? 'form' : undefined;
}

const continueKey = Symbol('waits for 100 Continue');

type ExpectingRequest = IncomingMessage & { [continueKey]?: boolean };

/** Notes whether the client waits for `100 Continue` before it sends the body, and has not got it yet. */
function expectContinue(req: ExpectingRequest, waits: boolean): void {
  req[continueKey] = waits;
}

/** What `expectContinue` noted last. */
export function waitsForContinue(req: ExpectingRequest): boolean {
  return req[continueKey] === true;
}

/** What each chunk of a body brings on average, in bytes: a short line of JSON. */
const chunkBytes = 64;
/** The same of a body that is thrown away, whose request is answered: its client is charged for nothing more. */
const thrownChunkBytes = 1_024;
/** Chunks of any size that a body may have beside those: they take about as long as a small request does. */
const smallChunks = 512;

const leastKey = Symbol('least bytes of a chunk');

/** Node sets it once it throws a body away, and from then on hands no chunk of it to `push`. */
interface Dumping {
  _dumped: boolean;
  _dump(): void;
}

const { _dump: dump } = IncomingMessage.prototype as IncomingMessage & Dumping;

/**
 * Makes a class of requests, for `createServer`, whose bodies come in chunks of a reasonable size, read or not. A chunk
 * costs 2 µs and 240 bytes beside what it brings, so that a body of a few hundred KB in chunks of one byte would take the
 * event loop for a second, and 15 MB while it waits to be read. A large chunk makes up for small ones before it, not for
 * those that follow.
 *
 * @param cut called once for a body that has, beyond 512 small chunks, more than one for each 64 bytes, for each 1,024 where it
 * is thrown away; it is to end the connection and what is parsed of it. The chunk is not handed on, nor is any after it.
 */
export function boundedRequest(cut: (socket: Socket, reason: 'chunks') => void): typeof IncomingMessage {
  return class BoundedRequest extends IncomingMessage {
    /** How much less has come in than the chunks should have brought, in bytes. */
    #missing = 0;
    [leastKey] = chunkBytes;

    override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
      if (chunk !== null) {
        this.#missing = Math.max(0, this.#missing + this[leastKey] - chunk.length);
        if (this.#missing > smallChunks * this[leastKey]) {
          if (!this.socket.destroyed) cut(this.socket, 'chunks');
          return false;
        }
        if (this[leastKey] === thrownChunkBytes && this.listenerCount('data') === 0) {
          giveBack(chunk);
          return true;
        }
      }
      return super.push(chunk, encoding);
    }

    /** Throws the rest of a body away, and counts it still. */
    _dump(this: BoundedRequest & Dumping): void {
      const dumped = this._dumped;
      this[leastKey] = thrownChunkBytes;
      dump.call(this);
      this._dumped = dumped;
    }
  };
}

/** How much of an unwanted body is read, so that the connection serves the next request, in bytes. */
const drainedBytes = 65_536;
/** What a client has to read an answer before its connection is gone. */
const lingerMs = 1000;

const requestKey = Symbol('request that came last');

type KnownSocket = Socket & { [requestKey]?: IncomingMessage | undefined };

/**
 * Whether an answer given now closes the connection: more of the body is to come than is worth reading, or it is not
 * known how much, or the client waits for a 100 Continue and may leave the body out.
 */
export function closesUnread(req: IncomingMessage): boolean {
  return !req.complete && hasBody(req) && isMuchToRead(req);
}

function isMuchToRead(req: IncomingMessage): boolean {
  const length = req.headers['content-length'];
  return length === undefined || Number(length) > drainedBytes || waitsForContinue(req);
}

/** What Node calls to make the head of an answer. */
type HeadedResponse = ServerResponse & { _storeHeader(line: string, own: unknown): void };

/**
 * Has a server read no body that it has already answered: such a connection is closed once the client had a second to
 * read the answer, which says so. One that is closed at once is reset, and the client may never see why; and behind an answer
 * that does not say it, a proxy has put the next request on the connection.
 */
export function closeUnreadConnections(server: Server): void {
  server.prependListener('request', (req: IncomingMessage, res: HeadedResponse) => {
    if (!hasBody(req)) return;
    const socket = req.socket as KnownSocket;
    if (isMuchToRead(req)) sayClosed(res);
    socket[requestKey] = req;
    socket.destroySoon = destroySoon;
    res.once('finish', closeUnread);
  });
}

function sayClosed(res: HeadedResponse): void {
  const storeHead = res._storeHeader;
  res._storeHeader = function storeLastHead(line, own) {
    if (closesUnread(this.req)) this.shouldKeepAlive = false;
    storeHead.call(this, line, own);
  };
}

/**
 * Has a server close a connection of a proxy once it has answered a request on it that asks for another protocol, to which it
 * never changes. Node reads the request like any other, but drops what came with it in the same read: where a next request
 * was cut so, its body would be taken for requests, whose answers others may get. A client that connects by itself has
 * nobody beside it, and some ask for HTTP/2 with each request, so that they would connect anew for each. Which field names
 * `Upgrade` as an option is not looked at: Node's parser takes `Proxy-Connection` for `Connection`.
 */
export function closeIgnoredUpgrades(server: Server, isProxy: (address: string) => boolean): void {
  server.prependListener('request', ({ headers, socket }: IncomingMessage, res: ServerResponse) => {
    if (headers.upgrade !== undefined && isProxy(socket.remoteAddress ?? '')) res.shouldKeepAlive = false;
  });
}

/**
 * For `server.on('checkContinue', …)`: the request goes the way of all others, and its client is told to go on when
 * something begins to read the body, so that none is sent for a request that is refused.
 */
export function continueWhenRead(server: Server): RequestListener {
  return function handleExpectation(req: IncomingMessage, res) {
    const read = req._read;
    expectContinue(req, true);
    req._read = function readOn(size) {
      req._read = read;
      if (!res.headersSent) {
        expectContinue(req, false);
        res.writeContinue();
      }
      read.call(req, size);
    };
    server.emit('request', req, res);
  };
}

/** Ends a connection and destroys it a second later; what still comes in is thrown away. */
export function endConnection(socket: Socket, lastBytes?: string): void {
  if (lastBytes === undefined) socket.end();
  else socket.end(lastBytes);
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once('close', () => clearTimeout(timer));
}

/** What Node calls after the last answer of a connection. */
function destroySoon(this: KnownSocket): void {
  const req = this[requestKey];
  if (req?.complete === false) closeLate(req);
  else Socket.prototype.destroySoon.call(this);
}

function closeUnread(this: ServerResponse): void {
  const { req } = this;
  const socket = req.socket as KnownSocket;
  if (closesUnread(req)) closeLate(req);
  // A connection that is idle would keep what was received and parsed of the last body.
  else if (socket[requestKey] === req) socket[requestKey] = undefined;
}

function closeLate(req: IncomingMessage & { [leastKey]?: number }): void {
  if (req.socket.writableEnded) return;
  req[leastKey] = thrownChunkBytes;
  req.unpipe();
  req.resume();
  endConnection(req.socket);
}

const mark = Symbol('does not look at the body');
const readKey = Symbol('reads the body');
const bodyKey = Symbol('body');

/** Sets `req.body`; gives a promise only where that takes time. */
type ReadBody = () => Promise<void> | undefined;

type DeferredRequest = Request & { [readKey]?: ReadBody | undefined; [bodyKey]?: unknown };

/** Leaves a body to be read and parsed by the first handler that `readBodyFirst` has made. */
export function deferBody(req: DeferredRequest, read: ReadBody): void {
  req[readKey] = read;
}

/** Says of a handler that it never looks at the body: it runs before that is parsed, so that what it refuses costs no parsing. */
export function withoutBody<H extends RequestHandler>(handler: H): H {
  return Object.assign(handler, { [mark]: true });
}

/**
 * A handler that runs once a body that was left to it has been read and parsed; one of `withoutBody` stays as it is. Guards
 * are not made so: whom they refuse has nothing parsed, and who waits for `100 Continue` is refused before it sends anything.
 * They are asked again where the body took time.
 */
export function readBodyFirst(handler: RequestHandler): RequestHandler {
  if (handler === publicAccess || (handler as { [mark]?: boolean })[mark] === true) return handler;
  function runWithBody(req: DeferredRequest, res: Response, next: NextFunction): unknown {
    const read = req[readKey];
    if (read === undefined) return handler(req, res, next);
    req[readKey] = undefined;
    const reading = read();
    if (reading === undefined) return handler(req, res, next);
    // A session or a role may have ended while the body came in, for as long as a client likes to send.
    return reading
      .then(recheckCaller)
      .then(() => handler(req, res, next))
      .catch((error: unknown) => passError(error, next));
  }
  return Object.assign(runWithBody, handler);
}

/**
 * Has `req.body` of an app's requests raise an error until the body is read. A guard that decides by it would take a body
 * that is there for none, and might let in what it is to refuse.
 */
export function guardBody(app: Express): void {
  Object.defineProperty(app.request, 'body', {
    configurable: true,
    get(this: DeferredRequest) {
      if (this[readKey] === undefined) return this[bodyKey];
      throw new InternalServerErrorException(
        `Expected nothing to look at req.body of ${this.method} ${this.path} before the guards have let the request in; decide by it in a handler behind them.`,
      );
    },
    set(this: DeferredRequest, body: unknown) {
      this[bodyKey] = body;
    },
  });
}
