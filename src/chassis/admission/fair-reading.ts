import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { clientKey } from '../context/request-context.ts';
import type { TrustProxy } from '../http/pipeline/request-context-of.ts';
import {
  anybody,
  bytesKey,
  newReader,
  proxyKey,
  type Reader,
  type ReadSocket,
  readerKey,
  startReading,
  stoppedKey,
  stopReading,
  waitedKey,
} from './read-socket.ts';

/** A turn of the event loop that has taken so long is long, in milliseconds. */
export const mostTurnMs = 10;
/** The same while all connections are of one client: nobody else has to be spared, and many requests together cost less than few. */
const mostTurnAloneMs = 50;
/** A client with more connections may make a turn long without a request, by a header field on each. */
const fewConnections = 32;
/** Connections that are read again after a turn, of all clients together: most requests of so many make no turn long. */
const mostAtOnce = 64;
/** The same while all are of one client. */
const mostAloneAtOnce = 256;
/** A turn is too long, and fewer are read after it, beyond this multiple of the time from which it is long. */
const tooLong = 2;
/** After turns that are too long at least so many are: what they bring of requests without bodies takes a few milliseconds. */
const fewAtOnce = 8;
/** And after those in which they brought more bytes than these: of each, two megabytes of a body may be read in one turn. */
const leastAtOnce = 2;
const manyBytes = 1_048_576;
/** Connections that are read after a turn beside those, at most: of a client as many as brought nothing before them. */
const mostIdle = 31;
/** Connections that may bring a request of anybody are read beside all those: each brings 64 KB at most before that is known. */
const fewOfAnybody = 32;
/** As many as have all of them read within this time, in milliseconds: in long turns more than few come before the next. */
const anybodyWithinMs = 500;
/** The same while few connections are left: one that is not read has a place, maybe for a client that has too many. */
const fewLeftWithinMs = 150;
const mostOfAnybody = 256;
/** No more than few where connections brought more bytes than these on average. */
const fewBytes = 4096;

/** How long a server that drains waits until all connections are read. */
const mostSettleMs = 2000;

/**
 * Keeps turns of the event loop short. In one turn the loop reads all connections on which something has come, and only then
 * does anybody's work go on. Where one client has hundreds of connections with long requests, each turn would take as long
 * as to read and to refuse all of these, and whoever needs five turns for its answer would wait for five times that. So once
 * a turn is long, a client has two further requests read in it; after the second none of its connections are read until
 * their turn, and none of clients with many from the first on. Some are read again in each turn that follows, as many as keep
 * it short, one client after the other. What they send waits in the kernel meanwhile, at most 128 KB of each connection, and
 * takes no memory here.
 */
export class FairReading {
  /** Whether there are connections that are not read. A field, because each request asks for it. */
  holdsBack = false;
  /** Whether there have been connections of proxies. A field for the same reason. */
  hasProxies = false;
  /** Whether a proxy has sent requests of several clients on one connection. A field for the same reason. */
  areShared = false;
  readonly #readers = new Map<string, Reader>();
  /** Those of them with more than few connections. */
  readonly #crowds = new Set<Reader>();
  /** Clients with connections that are not read, in the order of their turns. */
  readonly #turns: Reader[] = [];
  /** Those whose turn has come: they are read in the turn of the loop that follows, however long it is. */
  #readAgain: ReadSocket[] = [];
  #readAt = 0;
  #atOnce = mostAtOnce;
  #reads = false;
  #lastFirst = false;
  #areFewLeft = () => false;

  /**
   * Knows the connections of a server from now on, and which of them are of proxies that tell whose requests they bring.
   *
   * @param areFewLeft whether the server takes few further connections. Default: it takes many
   */
  watch(server: Server, isTrusted: TrustProxy, areFewLeft = this.#areFewLeft): void {
    this.#areFewLeft = areFewLeft;
    server.on('connection', (socket: Socket) => this.#open(socket, isTrusted));
  }

  /**
   * To be called with each request. A connection of a proxy counts with those of the client whose request came on it last,
   * because most of what follows on it is from who sends the most; before its first request, with all that have brought none,
   * and so before each request where clients share connections. What follows such a request waits at once, where others of
   * its client do.
   */
  follow(socket: ReadSocket, client: string): void {
    const from = socket[readerKey];
    if (!socket[proxyKey] || from === undefined || from.key === client || socket.destroyed) return;
    if (from.key !== anybody) this.areShared = true;
    const to = this.#move(socket, from, client);
    // The rest of a body takes as long to read as dozens of first requests, for which everybody else waits here.
    if (from.key === anybody && to.stopped.length > 0 && socket[stoppedKey] === undefined) this.#stop(socket, to);
  }

  /** To be called once a request is answered where clients share connections: the next one on its connection may be of anybody. */
  answered(socket: ReadSocket): void {
    const from = socket[readerKey];
    if (!socket[proxyKey] || from === undefined || from.key === anybody || socket.destroyed) return;
    this.#move(socket, from, anybody);
  }

  /** How long the request that came first on a connection since it is read again may have waited for it, in milliseconds; 0 for others. */
  unreadMs(socket: ReadSocket): number {
    const waitedMs = socket[waitedKey] ?? 0;
    socket[waitedKey] = 0;
    return waitedMs;
  }

  /**
   * To be called with the connection of a request that has come when its turn of the loop had taken longer than `mostTurnMs`.
   *
   * @param beganAt when the turn began, by `performance.now()`
   */
  spare(socket: ReadSocket, beganAt: number, now: number): void {
    const reader = socket[readerKey];
    if (now - beganAt <= this.#longMs) return;
    for (const crowd of this.#crowds) this.#stopAll(crowd);
    if (reader?.lateIn === beganAt) this.#stopAll(reader);
    else if (reader) reader.lateIn = beganAt;
  }

  /**
   * Resolves once all connections are read, or after `mostSettleMs`: a server that drains closes those on which it has read no
   * request. Whoever has few has been read by then; to read all at once would take more memory than there may be.
   */
  async settle(): Promise<void> {
    const until = performance.now() + mostSettleMs;
    while (this.holdsBack && performance.now() < until) await nextTurn();
  }

  #open(socket: ReadSocket, isTrusted: TrustProxy): void {
    if (socket.destroyed) return;
    const { remoteAddress } = socket;
    const isProxys = remoteAddress !== undefined && isTrusted(remoteAddress, 0);
    if (isProxys) socket[proxyKey] = this.hasProxies = true;
    const reader = this.#join(socket, isProxys ? anybody : clientKey(remoteAddress));
    socket.once('close', () => this.#leave(socket, socket[readerKey] as Reader));
    // Otherwise one that connects anew for each request would never wait.
    if (reader.stopped.length > 0) this.#stop(socket, reader);
    else reader.reading.add(socket);
  }

  /**
   * Has a connection count with another client. It may wait to be read, also where a request on it begins that was read together
   * with the one before: then it waits with the other from now on, because what is in two lines would leave neither.
   */
  #move(socket: ReadSocket, from: Reader, key: string): Reader {
    const isStopped = socket[stoppedKey] !== undefined;
    if (isStopped) this.#forget(socket, from);
    const to = this.#join(socket, key);
    if (from.reading.has(socket)) to.reading.add(socket);
    this.#leave(socket, from);
    if (isStopped) this.#stop(socket, to);
    return to;
  }

  #join(socket: ReadSocket, key: string): Reader {
    const reader = this.#readers.get(key) ?? newReader(key);
    this.#readers.set(key, reader);
    reader.open += 1;
    if (reader.open > fewConnections) this.#crowds.add(reader);
    socket[readerKey] = reader;
    return reader;
  }

  #leave(socket: ReadSocket, reader: Reader): void {
    reader.open -= 1;
    if (reader.open <= fewConnections) this.#crowds.delete(reader);
    if (reader.open === 0) this.#readers.delete(reader.key);
    reader.reading.delete(socket);
  }

  #stopAll(reader: Reader): void {
    for (const socket of reader.reading) this.#stop(socket, reader);
  }

  #stop(socket: ReadSocket, reader: Reader): void {
    stopReading(socket);
    reader.reading.delete(socket);
    socket[stoppedKey] ??= performance.now();
    if (reader.stopped.length === 0 && reader.key !== anybody) this.#turns.push(reader);
    reader.stopped.push(socket);
    this.holdsBack = true;
    if (this.#reads) return;
    this.#reads = true;
    setImmediate(this.#readSome);
  }

  /** A connection has no turn any more with those of this client. */
  #forget(socket: ReadSocket, reader: Reader): void {
    reader.stopped.splice(reader.stopped.indexOf(socket), 1);
    if (reader.stopped.length === 0 && reader.key !== anybody) this.#turns.splice(this.#turns.indexOf(reader), 1);
  }

  /** Whether all connections are of one client. */
  get #isAlone(): boolean {
    return this.#readers.size === 1;
  }

  /** The time from which a turn is long. */
  get #longMs(): number {
    return this.#isAlone ? mostTurnAloneMs : mostTurnMs;
  }

  readonly #readSome = () => {
    const now = performance.now();
    const tookMs = this.#readAgain.length > 0 ? now - this.#readAt : 0;
    const most = this.#isAlone ? mostAloneAtOnce : mostAtOnce;
    let bytes = 0;
    for (const socket of this.#readAgain) bytes += this.#goOn(socket);
    const withinMs = this.#areFewLeft() ? fewLeftWithinMs : anybodyWithinMs;
    const partOfAnybody = bytes <= fewBytes * this.#readAgain.length ? tookMs / withinMs : 0;
    const least = bytes > manyBytes ? leastAtOnce : fewAtOnce;
    const change = tookMs > tooLong * this.#longMs ? 0.5 : tookMs > this.#longMs ? 1 : 2;
    this.#atOnce = Math.max(least, Math.min(most, this.#atOnce * change));
    this.#readAt = now;
    this.#readAgain = this.#take(this.#atOnce, partOfAnybody);
    // Of those whose turn came all may have been closed.
    this.#reads = this.#readAgain.length > 0 || this.holdsBack;
    if (this.#reads) setImmediate(this.#readSome);
  };

  /** @returns how many bytes came */
  #goOn(socket: ReadSocket): number {
    const reader = socket[readerKey] as Reader;
    const bytes = socket.bytesRead - (socket[bytesKey] as number);
    reader.idle = bytes === 0 && !socket.destroyed ? reader.idle + 1 : 0;
    // What comes on it from now on has not waited.
    socket[waitedKey] = 0;
    // It may have been stopped again in the turn in which it was read.
    if (!socket.destroyed && socket[stoppedKey] === undefined) reader.reading.add(socket);
    return bytes;
  }

  /** The next connections to be read: some of nobody's, and of each client in its turn. */
  #take(most: number, partOfAnybody: number): ReadSocket[] {
    const taken: ReadSocket[] = [];
    const nobodys = this.#readers.get(anybody);
    if (nobodys) {
      const part = Math.ceil(nobodys.stopped.length * partOfAnybody);
      this.#readSomeOf(nobodys, Math.max(fewOfAnybody, Math.min(part, mostOfAnybody)), taken);
    }
    const mostTaken = taken.length + most + mostIdle;
    for (let turns = 0; turns < most && taken.length < mostTaken; turns += 1) {
      const reader = this.#turns.shift();
      if (reader === undefined) break;
      // Otherwise the one request of a client with fifty connections would wait for fifty turns, of which each costs nothing.
      this.#readSomeOf(reader, Math.min(reader.idle + 1, mostTaken - taken.length), taken);
      if (reader.stopped.length > 0) this.#turns.push(reader);
    }
    this.holdsBack = this.#turns.length > 0 || (nobodys?.stopped.length ?? 0) > 0;
    return taken;
  }

  #readSomeOf(reader: Reader, count: number, taken: ReadSocket[]): void {
    for (let left = Math.min(count, reader.stopped.length); left > 0; left -= 1) this.#readNext(reader, taken);
  }

  #readNext(reader: Reader, taken: ReadSocket[]): void {
    // Where thousands have come at once, one that comes after them waits for few of them so, and none of them for ever.
    if (reader.key === anybody) this.#lastFirst = !this.#lastFirst;
    const socket = (
      reader.key === anybody && this.#lastFirst ? reader.stopped.pop() : reader.stopped.shift()
    ) as ReadSocket;
    socket[waitedKey] = performance.now() - (socket[stoppedKey] as number);
    socket[stoppedKey] = undefined;
    if (socket.destroyed) return;
    socket[bytesKey] = socket.bytesRead;
    startReading(socket);
    taken.push(socket);
  }
}
