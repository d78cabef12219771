import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { WindowCounts } from '../admission/rate-limit.ts';
import { clientKey } from '../context/request-context.ts';
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
/** A client that gives up more requests than this within so many seconds opens no connection for the rest of them. */
const mostGivenUp = 1000;
const givenUpSeconds = 10;

const lineKey = Symbol('requests that wait for their turn');

/** What waits on one connection. */
interface Line {
  readonly socket: Socket;
  /** Whose it is, as `clientKey` gives it. */
  readonly client: string;
  /** Each with what ends its wait. */
  readonly waiting: Map<ServerResponse, () => void>;
  bytes: number;
}

type PipeliningSocket = Socket & { [lineKey]?: Line };

type ClosingResponse = ServerResponse & { _closed: boolean };

/** How many requests may wait on all connections together: one costs about as much memory as an open connection. */
type PipelineLimits = Pick<ConnectionLimits, 'HTTP_MAX_CONNECTIONS'>;

/**
 * Has the requests that a client sends ahead of its answers (pipelining, RFC 9112, 9.3.2) begin one after the other. Node
 * would begin all of them at once and hold their answers until the ones before are taken: one connection that reads nothing
 * would have hundreds of open files, query results and compressors. A connection with more than 32 requests that wait is
 * cut; so is, when one more comes while HTTP_MAX_CONNECTIONS wait on all connections together, the longest of the address
 * with the most. What they bring is held until their turn, where nothing else counts it: a connection is cut whose requests
 * bring more than 128 KB of it, or, while all together hold 8 KB for each connection that may be open, the one that holds the
 * most of the address with the most.
 *
 * A request that is given up before its turn was read like any other, and no limit has seen it. So they are counted, and an
 * address that comes back for more and more of them is not let in.
 */
export class PipelinedRequests implements Turns {
  readonly #total: number;
  readonly #cut: CutConnection;
  /** Those on which requests wait. */
  readonly #lines = new Set<Line>();
  readonly #givenUp = new WindowCounts(givenUpSeconds);
  #waiting = 0;
  #bytes = 0;

  constructor({ HTTP_MAX_CONNECTIONS: total }: PipelineLimits, cut: CutConnection) {
    this.#total = total;
    this.#cut = cut;
  }

  /** Whether a client, as `clientKey` gives it, has given up so many requests that it is not to open further connections now. */
  isBarred(client: string): boolean {
    return this.#givenUp.known(client).used > mostGivenUp;
  }

  wait(response: ServerResponse, begin: () => void): void {
    const { req } = response;
    const socket: PipeliningSocket = req.socket;
    const line = socket[lineKey] ?? this.#openLine(socket);
    if (!this.#hasRoom(line)) return;
    this.#waiting += 1;
    this.#lines.add(line);
    const giveBack = this.#hold(req, line);
    const leave = () => {
      if (!line.waiting.delete(response)) return;
      this.#waiting -= 1;
      if (line.waiting.size === 0) this.#lines.delete(line);
      giveBack();
    };
    line.waiting.set(response, leave);
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

  #openLine(socket: PipeliningSocket): Line {
    const line: Line = { socket, client: clientKey(socket.remoteAddress), waiting: new Map(), bytes: 0 };
    socket[lineKey] = line;
    socket.once('close', () => this.#giveUp(line));
    return line;
  }

  /** Node closes what waits with its connection, but not once it has handed that out as a tunnel. */
  #giveUp({ client, waiting }: Line): void {
    if (waiting.size > 0) this.#givenUp.consume(client, waiting.size);
    for (const response of waiting.keys() as Iterable<ClosingResponse>) {
      response.destroyed = true;
      response._closed = true;
      response.emit('close');
    }
  }

  /** Whether one more request may wait on a line. Where it may not, that line is cut; where all hold too many, maybe another. */
  #hasRoom(line: Line): boolean {
    const isLong = line.waiting.size >= mostOfConnection;
    if (!isLong && this.#waiting < this.#total) return true;
    const cut = isLong ? line : this.#mostBeside(line, ({ waiting }) => waiting.size);
    this.#cutLine(cut);
    return cut !== line;
  }

  /** Its requests make room at once; its connection closes in a later turn of the event loop. */
  #cutLine({ client, socket, waiting }: Line): void {
    this.#givenUp.consume(client, waiting.size + 1);
    for (const leave of waiting.values()) leave();
    this.#cut(socket, 'pipelined');
  }

  /** The line with the most, by a measure, of the client with the most; this line if its client has the most. */
  #mostBeside(line: Line, measure: (line: Line) => number): Line {
    const sums = new Map<string, number>();
    for (const other of this.#lines) sums.set(other.client, (sums.get(other.client) ?? 0) + measure(other));
    let most = line;
    for (const other of this.#lines) {
      const more = (sums.get(other.client) ?? 0) - (sums.get(most.client) ?? 0);
      const isLonger = other.client === most.client && most !== line && measure(other) > measure(most);
      if (more > 0 || isLonger) most = other;
    }
    return most;
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
      if (!req.socket.destroyed) this.#boundBytes(line);
      return req.socket.destroyed ? false : push.call(req, chunk, encoding);
    };
    count(req.rawHeaders.reduce((bytes, text) => bytes + text.length + fieldBytes, 0));
    // Its end is pushed too, where it has no body.
    return () => {
      req.push = push;
      count(-held);
    };
  }

  #boundBytes(line: Line): void {
    if (line.bytes > mostBytesOfConnection) this.#cutLine(line);
    else if (this.#bytes > this.#total * bytesOfTurn) this.#cutLine(this.#mostBeside(line, ({ bytes }) => bytes));
  }
}
