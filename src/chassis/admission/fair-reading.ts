import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { clientKey } from '../context/request-context.ts';
import type { LoopWait } from './standing-wait.ts';

/** Once a turn of the event loop has taken so long, each client has one more request read in it, in milliseconds. */
export const mostTurnMs = 20;
/** The same while all connections are of one client: nobody else has to be spared, and many requests together cost less than few. */
const mostTurnAloneMs = 50;
/** Connections that are read again after each turn, of all clients together: their requests take less than such a turn. */
const atOnce = 32;

const readerKey = Symbol('client whose connection is read in turns');
const stoppedKey = Symbol('since when it is not read');

/** The connections of one client. */
interface Reader {
  readonly key: string;
  open: number;
  /** Those that are read until the client's requests make a turn long. */
  readonly reading: Set<ReadSocket>;
  /** Those that are not read, the first to be read again first; some of them may have been closed. */
  readonly stopped: ReadSocket[];
}

/** What Node keeps of a connection; fair-reading.test.ts holds it to that. */
type ReadSocket = Socket & {
  [readerKey]?: Reader;
  [stoppedKey]?: number;
  _handle?: { reading: boolean; readStart(): void; readStop(): void } | null;
};

/**
 * Keeps turns of the event loop short. In one turn the loop reads all connections on which something has come, and only then
 * does anybody's work go on. Where one client has hundreds of connections with long requests, each turn would take as long
 * as to read and to refuse all of these, and whoever needs five turns for its answer would wait for five times that. So once
 * a turn is long, a client has one further request read in it; its other connections are read some at a time in the turns that
 * follow, and clients take it in turns which. What they send waits in the kernel meanwhile, and takes no memory here.
 */
export class FairReading {
  readonly #loop: Pick<LoopWait, 'unreadMs'>;
  readonly #readers = new Map<string, Reader>();
  /** Clients with connections that are not read, in the order of their turns. */
  readonly #turns: Reader[] = [];
  /** Those whose turn has come: they are read in the turn of the loop that follows, however long it is. */
  #readAgain: ReadSocket[] = [];
  #reads = false;
  #spares = true;

  /** @param loop is told how long connections wait to be read */
  constructor(loop: Pick<LoopWait, 'unreadMs'>) {
    this.#loop = loop;
  }

  /** Knows the connections of a server from now on. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#open(socket));
  }

  /** To be called with the connection of a request that has come when its turn of the loop had taken longer than `mostTurnMs`. */
  spare(socket: ReadSocket, turnMs: number): void {
    const reader = socket[readerKey];
    if (!this.#spares || reader === undefined || reader.reading.size === 0) return;
    if (this.#readers.size === 1 && turnMs <= mostTurnAloneMs) return;
    for (const open of reader.reading) this.#stop(open, reader);
    reader.reading.clear();
  }

  /** Reads every connection from now on: a server that drains closes those on which it has read no request. */
  readAll(): void {
    this.#spares = false;
    this.#readAgain.push(...this.#take(Number.POSITIVE_INFINITY));
    this.#loop.unreadMs = 0;
  }

  #open(socket: ReadSocket): void {
    if (socket.destroyed) return;
    const key = clientKey(socket.remoteAddress);
    const reader = this.#readers.get(key) ?? { key, open: 0, reading: new Set(), stopped: [] };
    this.#readers.set(key, reader);
    reader.open += 1;
    socket[readerKey] = reader;
    socket.once('close', () => this.#close(socket, reader));
    // Otherwise one that connects anew for each request would never wait.
    if (reader.stopped.length > 0) this.#stop(socket, reader);
    else reader.reading.add(socket);
  }

  #close(socket: Socket, reader: Reader): void {
    reader.open -= 1;
    if (reader.open === 0) this.#readers.delete(reader.key);
    reader.reading.delete(socket);
  }

  #stop(socket: ReadSocket, reader: Reader): void {
    stopReading(socket);
    socket[stoppedKey] = performance.now();
    if (reader.stopped.length === 0) this.#turns.push(reader);
    reader.stopped.push(socket);
    if (this.#reads) return;
    this.#reads = true;
    setImmediate(this.#readSome);
  }

  readonly #readSome = () => {
    for (const socket of this.#readAgain) if (!socket.destroyed) socket[readerKey]?.reading.add(socket);
    this.#readAgain = this.#take(atOnce);
    if (this.#turns.length === 0) this.#loop.unreadMs = 0;
    this.#reads = this.#readAgain.length > 0;
    if (this.#reads) setImmediate(this.#readSome);
  };

  /** The next connections to be read, of each client in its turn. */
  #take(most: number): ReadSocket[] {
    const taken: ReadSocket[] = [];
    while (taken.length < most) {
      const reader = this.#turns.shift();
      if (reader === undefined) break;
      const socket = reader.stopped.shift() as ReadSocket;
      if (reader.stopped.length > 0) this.#turns.push(reader);
      if (socket.destroyed) continue;
      this.#loop.unreadMs = performance.now() - (socket[stoppedKey] as number);
      startReading(socket);
      taken.push(socket);
    }
    return taken;
  }
}

/** Node's own pauses are left alone: what it does not read it does not begin to read. */
function stopReading({ _handle: handle }: ReadSocket): void {
  if (handle?.reading) handle.readStop();
}

function startReading({ _handle: handle }: ReadSocket): void {
  if (handle?.reading) handle.readStart();
}
