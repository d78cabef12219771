import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Environment } from '../config/environment.ts';
import type { ConnectionWatch } from './connection-limits.ts';

const checkMs = 100;
const remindMs = 10_000;
const stallKey = Symbol('progress of what the client takes');

/** How long clients may take nothing of their answers, and what all answers hold that are not taken. */
export type SendLimits = Pick<Environment, 'HTTP_SEND_TIMEOUT_MS' | 'HTTP_SEND_BUDGET_BYTES'>;

interface Progress {
  /** Bytes that the operating system has taken of all that was written. */
  taken: number;
  /** When it last took some, by `performance.now()`. */
  since: number;
}

type WrittenSocket = Socket & { [stallKey]?: Progress | undefined; _handle?: WriteHandle | null };

/** What Node knows of the write under way; its public counters take what waits in its own queue for written. */
interface WriteHandle {
  bytesWritten?: number;
  writeQueueSize?: number;
}

type Reason = 'stalled' | 'budget';

/** The answers of a server, and where it tells of those that it cuts. */
export interface AnswerWatch extends Pick<ConnectionWatch, 'logger' | 'metrics'> {
  /** Those that are not complete yet, such as `Drain` knows. */
  inFlight: Iterable<ServerResponse>;
}

/**
 * Cuts connections whose clients do not read their answers, which would be held in memory for as long as they like: one
 * that takes nothing for HTTP_SEND_TIMEOUT_MS, and those stalled longest while all answers together hold more than
 * HTTP_SEND_BUDGET_BYTES. Who reads slowly, and reads, is served. No request pays for this: it looks at all connections
 * ten times a second.
 *
 * @param sockets the connections that are open
 */
export function cutStalledAnswers(
  server: Server,
  sockets: Iterable<Socket>,
  limits: SendLimits,
  watch: AnswerWatch,
): void {
  const cut = cutter(watch);

  function check(): void {
    const now = performance.now();
    const waiting: WrittenSocket[] = [];
    let held = 0;
    for (const response of watch.inFlight) if (isQueued(response)) held += response.writableLength;
    for (const socket of sockets) {
      const bytes = socket.writableLength;
      if (bytes === 0) {
        forget(socket);
        continue;
      }
      held += bytes;
      waiting.push(socket);
      if (now - progressOf(socket, now).since >= limits.HTTP_SEND_TIMEOUT_MS) cut(socket, 'stalled');
    }
    if (held > limits.HTTP_SEND_BUDGET_BYTES) makeRoom(waiting, held - limits.HTTP_SEND_BUDGET_BYTES);
  }

  function makeRoom(waiting: readonly WrittenSocket[], excess: number): void {
    let left = excess;
    for (const socket of waiting.toSorted((one, other) => since(one) - since(other))) {
      if (left <= 0) return;
      if (socket.destroyed) continue;
      left -= heldBy(socket);
      cut(socket, 'budget');
    }
  }

  function heldBy(socket: Socket): number {
    let bytes = socket.writableLength;
    for (const response of watch.inFlight) {
      if (isQueued(response) && response.req.socket === socket) bytes += response.writableLength;
    }
    return bytes;
  }

  server.once('listening', () => {
    const timer = setInterval(check, checkMs).unref();
    server.once('close', () => clearInterval(timer));
  });
}

/** Whether a request came before the one before it was answered: Node holds its answer until its turn. */
function isQueued({ socket }: ServerResponse): boolean {
  return socket === null;
}

function progressOf(socket: WrittenSocket, now: number): Progress {
  const taken = (socket._handle?.bytesWritten ?? 0) - (socket._handle?.writeQueueSize ?? 0);
  const known = socket[stallKey];
  if (known?.taken === taken) return known;
  const progress = { taken, since: now };
  socket[stallKey] = progress;
  return progress;
}

function forget(socket: WrittenSocket): void {
  if (socket[stallKey]) socket[stallKey] = undefined;
}

function since(socket: WrittenSocket): number {
  return socket[stallKey]?.since ?? 0;
}

/** Counts each cut; the log has a line for all of ten seconds. */
function cutter({ logger, metrics }: Pick<ConnectionWatch, 'logger' | 'metrics'>) {
  let count = 0;
  let remindedAt = Number.NEGATIVE_INFINITY;
  return (socket: Socket, reason: Reason): void => {
    metrics.cut(reason);
    count += 1;
    const now = performance.now();
    if (now - remindedAt >= remindMs) {
      const { remoteAddress: ipAddress, writableLength: bytes } = socket;
      logger.warn({ cut: count, reason, ipAddress, bytes }, 'connections cut: clients not reading');
      remindedAt = now;
      count = 0;
    }
    // By the error a stream that is piped to it knows that the client is at fault.
    socket.destroy(new Error('The client did not read its answer'));
  };
}
