import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import type { Environment } from '../config/environment.ts';
import { onClose } from '../http/pipeline/request-pipeline.ts';

/** How long a server drains: how long it still accepts, and when it cuts, both from the start of the drain. */
type DrainTimes = Pick<Environment, 'SHUTDOWN_ACCEPT_MS' | 'SHUTDOWN_DEADLINE_MS'>;

/** How a drain went: requests answered since it began, and those cut at its deadline. */
export interface DrainReport {
  finished: number;
  cut: number;
}

const idleCheckMs = 50;
const silenceMs = 1000;

/** What a request that was cut needs to undo what it began, such as a file half received. */
const undoMs = 250;

/**
 * Empties a server without failing a request. For a while it still accepts, so that the load balancer can notice
 * that readiness is off, and tells every client to close its connection. Then it stops accepting, closes idle
 * connections, waits for requests in flight, and cuts what is left at the deadline.
 */
export class Drain {
  readonly #server: Server;
  /** Requests that have no complete answer yet, by their responses. */
  readonly inFlight = new OpenSet<ServerResponse>();
  /** Open connections, by when they were opened. */
  readonly #opened = new Map<Socket, number>();
  /** Requests that were answered before all of their body came, by their connections; the rest of it is not needed. */
  readonly #halfRead = new Map<Socket, IncomingMessage>();
  #draining = false;
  #finished = 0;
  #cut = 0;

  /** Knows the requests of `server` from now on. */
  constructor(server: Server) {
    this.#server = server;
    const leave = (response: ServerResponse) => this.#leave(response);
    // First of all listeners: the app may answer before another is called.
    server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
      this.inFlight.add(response);
      onClose(response, leave);
      if (this.#draining) response.setHeader('Connection', 'close');
    });
    server.on('connection', (socket: Socket) => {
      this.#opened.set(socket, performance.now());
      socket.on('close', () => {
        this.#opened.delete(socket);
        this.#halfRead.delete(socket);
      });
    });
  }

  /** How long `run` takes at most, in milliseconds, on a machine that keeps up. */
  static longestMs({ SHUTDOWN_DEADLINE_MS }: DrainTimes): number {
    return SHUTDOWN_DEADLINE_MS + undoMs + 1000;
  }

  /** How it went so far. */
  report(): DrainReport {
    return { finished: this.#finished, cut: this.#cut };
  }

  /**
   * Empties and closes the server, which must be listening.
   *
   * @param settle resolves once every connection is read. Default: each always is
   */
  async run(
    { SHUTDOWN_ACCEPT_MS: acceptMs, SHUTDOWN_DEADLINE_MS: deadlineMs }: DrainTimes,
    settle?: () => Promise<void>,
  ): Promise<void> {
    this.#draining = true;
    for (const response of this.inFlight) {
      if (!response.headersSent) response.setHeader('Connection', 'close');
    }
    const { promise: accepted, resolve: stopAccepting } = Promise.withResolvers<void>();
    const accept = setTimeout(stopAccepting, Math.min(acceptMs, deadlineMs));
    const deadline = setTimeout(() => this.#cutAll(), deadlineMs);
    try {
      if (acceptMs > 0) await accepted;
      await settle?.();
      // What has come is read in the turn that follows; until then its connections pass for idle.
      await turn();
      await turn();
      await this.#close();
      if (this.#cut > 0) await wait(undoMs);
    } finally {
      clearTimeout(accept);
      clearTimeout(deadline);
    }
  }

  async #close(): Promise<void> {
    const { promise: closed, resolve, reject } = Promise.withResolvers<void>();
    this.#server.close((error) => (error ? reject(error) : resolve()));
    const idle = setInterval(() => this.#closeIdle(), idleCheckMs);
    try {
      await closed;
    } finally {
      clearInterval(idle);
    }
  }

  /** Node takes a connection that never sent a byte for a busy one, and nothing else would end it before the deadline. */
  #closeIdle(): void {
    this.#server.closeIdleConnections();
    for (const [socket, { complete }] of this.#halfRead) if (!complete) socket.destroy();
    this.#halfRead.clear();
    const silentSince = performance.now() - silenceMs;
    for (const [socket, opened] of this.#opened) {
      if (socket.bytesRead === 0 && opened < silentSince) socket.destroy();
    }
  }

  /** A connection in the middle of a request's headers counts as a request. */
  #cutAll(): void {
    this.#server.closeIdleConnections();
    this.#cut = [...this.#opened.keys()].filter((socket) => !socket.destroyed && socket.bytesRead > 0).length;
    this.#server.closeAllConnections();
  }

  #leave(response: ServerResponse): void {
    this.inFlight.remove(response);
    const { req } = response;
    const { socket } = req;
    // One whose connection closes is never told, because it was answered.
    if (!req.complete && !req.destroyed && !socket.destroyed) {
      this.#halfRead.set(socket, req);
      req.once('close', () => this.#halfRead.get(socket) === req && this.#halfRead.delete(socket));
    }
    if (this.#draining && response.writableFinished) this.#finished += 1;
  }
}

type Placed<T> = T & { [place: symbol]: number };

/**
 * What is open now, such as the connections of a server or the responses that it owes, in no order. Not a Set: each time
 * that a Set makes room, what it leaves behind still leads to the next and to all that was in it, so that requests long
 * answered would fill the old memory.
 */
export class OpenSet<T extends object> {
  readonly #members: Placed<T>[] = [];
  /** Of this set: a member may be in others too. */
  readonly #place = Symbol('place among those that are open');

  get size(): number {
    return this.#members.length;
  }

  /** Those open now. */
  [Symbol.iterator](): Iterator<T> {
    return this.#members.values();
  }

  /** One of them, by a number below `size`; which one has it changes with each that is taken out. */
  at(index: number): T {
    return this.#members[index] as T;
  }

  /** Adds one that is not in it. */
  add(member: T): void {
    (member as Record<symbol, number>)[this.#place] = this.#members.length;
    this.#members.push(member as Placed<T>);
  }

  /** Takes one out that is in it; the last takes its place. */
  remove(member: T): void {
    const last = this.#members.pop() as Placed<T>;
    if (last === member) return;
    const place = (member as Placed<T>)[this.#place] as number;
    (last as Record<symbol, number>)[this.#place] = place;
    this.#members[place] = last;
  }
}
