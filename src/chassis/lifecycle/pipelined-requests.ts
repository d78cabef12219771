import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Turns } from '../http/pipeline/request-pipeline.ts';
import { fieldBytes } from '../http/pipeline/request-pipeline.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import type { CutConnection } from './cut-connections.ts';

/** Requests that may wait for their turn on one connection. */
const mostOfConnection = 32;
/** What they may hold together of header fields and bodies, in bytes, and what all that wait may, for each connection that may be open. */
const mostBytesOfConnection = 131_072;
const bytesOfTurn = 8_192;
/** What a chunk of a body takes beside its bytes: measured, on Node 24. */
const chunkBytes = 240;

const lineKey = Symbol('requests that wait for their turn');

/** What waits on one connection. */
interface Line {
  readonly waiting: Set<ServerResponse>;
  bytes: number;
}

type PipeliningSocket = Socket & { [lineKey]?: Line };

/** How many requests may wait on all connections together: one costs about as much memory as an open connection. */
type PipelineLimits = Pick<ConnectionLimits, 'HTTP_MAX_CONNECTIONS'>;

/**
 * Has the requests that a client sends ahead of its answers (pipelining, RFC 9112, 9.3.2) begin one after the other. Node
 * would begin all of them at once and hold their answers until the ones before are taken: one connection that reads nothing
 * would have hundreds of open files, query results and compressors. A connection with more than 32 requests that wait is
 * cut, and so is one that sends one more while HTTP_MAX_CONNECTIONS wait on all connections together. What they bring is
 * held until their turn, where nothing else counts it: a connection is cut whose requests bring more than 128 KB of it, or
 * more while all together hold 8 KB for each connection that may be open.
 */
export class PipelinedRequests implements Turns {
  readonly #total: number;
  readonly #cut: CutConnection;
  #waiting = 0;
  #bytes = 0;

  constructor({ HTTP_MAX_CONNECTIONS: total }: PipelineLimits, cut: CutConnection) {
    this.#total = total;
    this.#cut = cut;
  }

  wait(response: ServerResponse, begin: () => void): void {
    const { req } = response;
    const socket: PipeliningSocket = req.socket;
    const line = socket[lineKey] ?? openLine(socket);
    if (line.waiting.size >= mostOfConnection || this.#waiting >= this.#total) {
      this.#cut(socket, 'pipelined');
      return;
    }
    this.#waiting += 1;
    line.waiting.add(response);
    const giveBack = this.#hold(req, line);
    const leave = () => {
      this.#waiting -= 1;
      line.waiting.delete(response);
      giveBack();
    };
    // Otherwise it would run in the context of the request before it.
    const own = new AsyncResource('PipelinedRequest');
    response.once('close', leave);
    response.once('socket', () => {
      response.off('close', leave);
      leave();
      // The one before it ends first, and other connections get their turn.
      setImmediate(() => !socket.destroyed && own.runInAsyncScope(begin));
    });
  }

  /** Counts what a request holds while it waits. @returns ends the count */
  #hold(req: IncomingMessage, line: Line): () => void {
    let held = 0;
    const count = (bytes: number) => {
      held += bytes;
      line.bytes += bytes;
      this.#bytes += bytes;
    };
    const { push } = req;
    req.push = (chunk, encoding) => {
      if (chunk !== null) count(chunk.length + chunkBytes);
      if (this.#isTooMuch(line) && !req.socket.destroyed) this.#cut(req.socket, 'pipelined');
      return req.socket.destroyed ? false : push.call(req, chunk, encoding);
    };
    count(req.rawHeaders.reduce((bytes, text) => bytes + text.length + fieldBytes, 0));
    // Its end is pushed too, where it has no body.
    return () => {
      req.push = push;
      count(-held);
    };
  }

  #isTooMuch({ bytes }: Line): boolean {
    return bytes > mostBytesOfConnection || this.#bytes > this.#total * bytesOfTurn;
  }
}

type ClosingResponse = ServerResponse & { _closed: boolean };

/** Node closes what waits with its connection, but not once it has handed that out as a tunnel. */
function openLine(socket: PipeliningSocket): Line {
  const line: Line = { waiting: new Set(), bytes: 0 };
  socket[lineKey] = line;
  socket.once('close', () => {
    for (const response of line.waiting as Set<ClosingResponse>) {
      response.destroyed = true;
      response._closed = true;
      response.emit('close');
    }
  });
  return line;
}
