import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clientOfConnection } from './client-connections.ts';
import type { CutConnection } from './cut-connections.ts';
import type { MemoryRelief } from './memory-guard.ts';
import { unsentSince } from './stalled-answers.ts';
import { unusedSince } from './unused-since.ts';

/** Whoever keeps the service waiting for less than this is an ordinary client, in milliseconds. */
const patienceMs = 1000;
/** An address that keeps it waiting for an answer or a request on more than so many at once is none, however short each waits. */
const fewConnections = 32;
const cutShare = 0.5;

const seenKey = Symbol('since when the request is awaited');

type SeenSocket = Socket & { _httpMessage?: SeenAnswer | null };
type SeenAnswer = ServerResponse & { [seenKey]?: number };

/** What the service waits for on a connection. */
type Awaited = 'reading' | 'sending' | 'asking';

interface WaitingSocket {
  readonly socket: Socket;
  readonly since: number;
}

/** The connections of a server, and what to do with them. */
interface WaitingOptions {
  sockets: Iterable<Socket>;
  cut: CutConnection;
  isProxy: (address: string) => boolean;
}

/**
 * Gives back the memory of connections that wait for their clients: to take an answer, to send the rest of a request, or to
 * ask anything. Of each kind the half is cut of those that have waited for a second, and of those of an address with many: of
 * the address with the most, also where a proxy tells it, what has waited for longest first. Requests that are worked on stay,
 * and so do idle connections of proxies, which may use them in the same moment.
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
    for (const [awaited, waiting] of this.#waiting(now)) {
      const most = awaited === 'asking' ? Number.POSITIVE_INFINITY : fewConnections;
      const late = ranked(waiting)
        .filter(({ since, younger }) => now - since >= patienceMs || younger >= most)
        .toSorted((one, other) => other.younger - one.younger || one.since - other.since);
      const some = late.slice(0, Math.ceil(late.length * cutShare));
      for (const { socket } of some) this.#options.cut(socket, 'memory');
      count += some.length;
    }
    return count;
  }

  #waiting(now: number) {
    const all: Record<Awaited, WaitingSocket[]> = { reading: [], sending: [], asking: [] };
    for (const socket of this.#options.sockets) {
      const waits = waitOf(socket, now);
      if (waits === undefined || socket.destroyed) continue;
      if (waits.for === 'asking' && this.#options.isProxy(socket.remoteAddress ?? '')) continue;
      all[waits.for].push({ socket, since: waits.since });
    }
    return Object.entries(all);
  }
}

/**
 * Each with how many of its address wait for the same and have waited for less. Otherwise a client that only pauses would be cut
 * for those who open new connections all the time.
 */
function ranked(waiting: readonly WaitingSocket[]) {
  const seen = new Map<string, number>();
  return waiting
    .toSorted((one, other) => other.since - one.since)
    .map((one) => {
      const address = clientOfConnection(one.socket);
      const younger = seen.get(address) ?? 0;
      seen.set(address, younger + 1);
      return { ...one, younger };
    });
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
  return { for: 'asking', since: unusedSince(socket, now) };
}
