import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { CutConnection } from './cut-connections.ts';
import type { MemoryRelief } from './memory-guard.ts';
import { unsentSince } from './stalled-answers.ts';

/** Whoever keeps the service waiting for less than this is an ordinary client, in milliseconds. */
const patienceMs = 1000;
const cutShare = 0.5;

const seenKey = Symbol('since when nothing has come');

/** What was first seen at a moment, by `performance.now()`. */
interface Seen {
  bytes: number;
  since: number;
}

type SeenSocket = Socket & { [seenKey]?: Seen; _httpMessage?: SeenAnswer | null };
type SeenAnswer = ServerResponse & { [seenKey]?: number };

/** What the service waits for on a connection. */
type Awaited = 'reading' | 'sending' | 'asking';

/** The connections of a server, and what to do with them. */
interface WaitingOptions {
  sockets: Iterable<Socket>;
  cut: CutConnection;
  isProxy: (address: string) => boolean;
}

/**
 * Gives back the memory of connections that wait for their clients: to take an answer, to send the rest of a request, or to
 * ask anything. Of each kind the half is cut that has waited for longest, and at least a second. Requests that are worked on
 * stay, and so do idle connections of proxies, which may use them in the same moment.
 */
export class WaitingConnections implements MemoryRelief {
  readonly #options: WaitingOptions;

  constructor(options: WaitingOptions) {
    this.#options = options;
  }

  watch(): void {
    this.#waiting(performance.now());
  }

  relieve(): number {
    const now = performance.now();
    let count = 0;
    for (const waiting of this.#waiting(now)) {
      const late = waiting
        .filter(({ since }) => now - since >= patienceMs)
        .toSorted((one, other) => one.since - other.since);
      const some = late.slice(0, Math.ceil(late.length * cutShare));
      for (const { socket } of some) this.#options.cut(socket, 'memory');
      count += some.length;
    }
    return count;
  }

  #waiting(now: number) {
    const all: Record<Awaited, { socket: Socket; since: number }[]> = { reading: [], sending: [], asking: [] };
    for (const socket of this.#options.sockets) {
      const waits = waitOf(socket, now);
      if (waits === undefined || socket.destroyed) continue;
      if (waits.for === 'asking' && this.#options.isProxy(socket.remoteAddress ?? '')) continue;
      all[waits.for].push({ socket, since: waits.since });
    }
    return Object.values(all);
  }
}

function waitOf(socket: SeenSocket, now: number): { for: Awaited; since: number } | undefined {
  const reading = unsentSince(socket);
  if (reading !== undefined) return { for: 'reading', since: reading };
  const answer = socket._httpMessage;
  if (answer) {
    if (answer.req.complete) return undefined;
    answer[seenKey] ??= now;
    return { for: 'sending', since: answer[seenKey] };
  }
  const bytes = socket.bytesRead;
  const seen = socket[seenKey];
  if (seen?.bytes === bytes) return { for: 'asking', since: seen.since };
  socket[seenKey] = { bytes, since: now };
  return { for: 'asking', since: now };
}
