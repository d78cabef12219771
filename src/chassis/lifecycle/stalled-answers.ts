import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Environment } from '../config/environment.ts';
import { clientOfConnection } from './client-connections.ts';
import type { CutConnection } from './cut-connections.ts';

const checkMs = 100;
const stallKey = Symbol('progress of what the client takes');

/** How long clients may take nothing of their answers, and what all answers hold that are not taken. */
export type SendLimits = Pick<Environment, 'HTTP_SEND_TIMEOUT_MS' | 'HTTP_SEND_BUDGET_BYTES'>;

interface Progress {
  /** Bytes that the operating system has taken of all that was written. */
  taken: number;
  /** When it last took some, by `performance.now()`. */
  since: number;
  /** Since when there is something that it has not taken. */
  unsentSince: number;
}

type WrittenSocket = Socket & { [stallKey]?: Progress | undefined; _handle?: WriteHandle | null };

/** What one client does not read. */
interface UnreadAnswers {
  held: number;
  readonly stalled: WrittenSocket[];
}

/** What Node knows of the write under way; its public counters take what waits in its own queue for written. */
interface WriteHandle {
  bytesWritten?: number;
  writeQueueSize?: number;
}

/**
 * Cuts connections whose clients do not read their answers, which would be held in memory for as long as they like: one
 * that takes nothing for HTTP_SEND_TIMEOUT_MS, and, while all answers together hold more than HTTP_SEND_BUDGET_BYTES, those
 * of the address that holds the most, also where a proxy tells it, the one stalled longest first. A client that reads slowly
 * is served. No request pays for this: it looks at all connections ten times a second.
 *
 * @param sockets the connections that are open
 */
export function cutStalledAnswers(
  server: Server,
  sockets: Iterable<Socket>,
  limits: SendLimits,
  cut: CutConnection,
): void {
  function check(): void {
    const now = performance.now();
    const waiting: WrittenSocket[] = [];
    let held = 0;
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

  /** Otherwise a client that only pauses would be cut for those who open new connections all the time and read nothing. */
  function makeRoom(waiting: readonly WrittenSocket[], excess: number): void {
    const clients = clientsOf(waiting);
    for (let left = excess; left > 0; ) {
      const client = withMost(clients);
      const socket = client?.stalled.shift();
      if (client === undefined || socket === undefined) return;
      const bytes = socket.writableLength;
      client.held -= bytes;
      left -= bytes;
      cut(socket, 'budget');
    }
  }

  server.once('listening', () => {
    const timer = setInterval(check, checkMs).unref();
    server.once('close', () => clearInterval(timer));
  });
}

/** Those of each address, the one stalled longest first. */
function clientsOf(sockets: readonly WrittenSocket[]): UnreadAnswers[] {
  const clients = new Map<string, UnreadAnswers>();
  for (const socket of sockets.toSorted((one, other) => since(one) - since(other))) {
    if (socket.destroyed) continue;
    const key = clientOfConnection(socket);
    const client = clients.get(key) ?? { held: 0, stalled: [] };
    client.held += socket.writableLength;
    client.stalled.push(socket);
    clients.set(key, client);
  }
  return [...clients.values()];
}

/** The address that holds the most; among equals the one that has stalled longest. */
function withMost(clients: readonly UnreadAnswers[]): UnreadAnswers | undefined {
  let most: UnreadAnswers | undefined;
  for (const client of clients) if (most === undefined || client.held > most.held) most = client;
  return most;
}

function progressOf(socket: WrittenSocket, now: number): Progress {
  const taken = (socket._handle?.bytesWritten ?? 0) - (socket._handle?.writeQueueSize ?? 0);
  const known = socket[stallKey];
  if (known?.taken === taken) return known;
  const progress = { taken, since: now, unsentSince: known?.unsentSince ?? now };
  socket[stallKey] = progress;
  return progress;
}

/** Since when a client has not taken all that is there for it, however it goes on; undefined for one that has. */
export function unsentSince(socket: WrittenSocket): number | undefined {
  return socket.writableLength > 0 ? socket[stallKey]?.unsentSince : undefined;
}

function forget(socket: WrittenSocket): void {
  if (socket[stallKey]) socket[stallKey] = undefined;
}

function since(socket: WrittenSocket): number {
  return socket[stallKey]?.since ?? 0;
}
