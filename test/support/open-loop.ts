import { connect, type Socket } from 'node:net';

/** One answer: when it was due to be asked for, how long it took from then on, and its status; 0 where none came. */
export interface Answer {
  readonly at: number;
  readonly ms: number;
  readonly status: number;
}

interface Connection {
  readonly socket: Socket;
  pending: { due: number; status: number; missing: number } | undefined;
}

/** Fewer than a server queues before it accepts them; beyond that the kernel may let clients wait for seconds. */
const fewConnections = 500;
const headEnd = Buffer.from('\r\n\r\n');

/**
 * Sends requests at a rate, whatever becomes of them, as many strangers do: a slow service gets no fewer. Connections are
 * kept and reused. Written for speed, so that the service is what is measured: it reads status and length, and no more.
 */
export class OpenLoop {
  readonly answers: Answer[] = [];
  /** Requests that were due while all connections were taken. */
  unsent = 0;
  readonly #host: string;
  readonly #port: number;
  readonly #path: () => string;
  readonly #mostConnections: number;
  readonly #idle: Connection[] = [];
  readonly #open = new Set<Connection>();

  /** @param mostConnections requests that may be under way at once; 500 by default */
  constructor(url: string, path: () => string, mostConnections = fewConnections) {
    const { hostname, port } = new URL(url);
    this.#host = hostname;
    this.#port = Number(port);
    this.#path = path;
    this.#mostConnections = mostConnections;
  }

  /** Sends `rate` requests a second for a time, then waits for the last answers, for at most `patienceMs`. */
  async run(rate: number, seconds: number, patienceMs = 10_000): Promise<void> {
    const began = performance.now();
    const end = began + seconds * 1000;
    let sent = 0;
    await every(2, () => {
      const now = performance.now();
      const due = Math.floor(((Math.min(now, end) - began) / 1000) * rate);
      for (; sent < due; sent += 1) this.#send(began + (sent * 1000) / rate);
      return now < end;
    });
    const patience = performance.now() + patienceMs;
    await every(5, () => this.#open.size > this.#idle.length && performance.now() < patience);
  }

  /** As many requests as the service answers with so many at work at once. */
  async saturate(concurrency: number, seconds: number): Promise<void> {
    const end = performance.now() + seconds * 1000;
    const refill = () => {
      const busy = this.#open.size - this.#idle.length;
      for (let count = busy; count < concurrency; count += 1) this.#send(performance.now());
      return performance.now() < end;
    };
    this.#whenIdle = () => void (performance.now() < end && refill());
    await every(5, refill);
    this.#whenIdle = undefined;
    await every(5, () => this.#open.size > this.#idle.length);
  }

  close(): void {
    for (const { socket } of this.#open) socket.destroy();
    this.#open.clear();
    this.#idle.length = 0;
  }

  #whenIdle: (() => void) | undefined;

  #send(due: number): void {
    const connection = this.#idle.pop() ?? this.#connect();
    if (!connection) {
      this.unsent += 1;
      return;
    }
    connection.pending = { due, status: 0, missing: -1 };
    connection.socket.write(`GET ${this.#path()} HTTP/1.1\r\nHost: load\r\n\r\n`);
  }

  #connect(): Connection | undefined {
    if (this.#open.size >= this.#mostConnections) return undefined;
    const connection: Connection = { socket: connect(this.#port, this.#host), pending: undefined };
    connection.socket.setNoDelay(true);
    connection.socket.on('data', (chunk: Buffer) => this.#receive(connection, chunk));
    connection.socket.on('error', () => connection.socket.destroy());
    connection.socket.on('close', () => {
      this.#open.delete(connection);
      const index = this.#idle.indexOf(connection);
      if (index >= 0) this.#idle.splice(index, 1);
      this.#finish(connection, 0);
    });
    this.#open.add(connection);
    return connection;
  }

  /** The head of an answer of this service always comes in one piece: it is small, and written at once. */
  #receive(connection: Connection, chunk: Buffer): void {
    const { pending } = connection;
    if (!pending) return;
    if (pending.missing === -1) {
      const head = chunk.toString('latin1', 0, chunk.indexOf(headEnd));
      pending.status = Number(head.slice(9, 12));
      pending.missing = contentLength(head) - (chunk.length - head.length - headEnd.length);
    } else pending.missing -= chunk.length;
    if (pending.missing > 0) return;
    this.#idle.push(connection);
    this.#finish(connection, pending.status);
  }

  #finish(connection: Connection, status: number): void {
    const { pending } = connection;
    if (!pending) return;
    connection.pending = undefined;
    this.answers.push({ at: pending.due, ms: performance.now() - pending.due, status });
    this.#whenIdle?.();
  }
}

const lengthField = 'ontent-length: ';

/** Of a head of this service, which writes it as `content-length` or as Node does; 0 where it has none. */
function contentLength(head: string): number {
  const at = head.indexOf(lengthField);
  return at === -1 ? 0 : Number.parseInt(head.slice(at + lengthField.length, at + lengthField.length + 12), 10);
}

/** The value below which a share of the numbers lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function every(ms: number, again: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const step = () => {
    if (again()) setTimeout(step, ms);
    else resolve();
  };
  step();
  return promise;
}
