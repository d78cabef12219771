import type { ServerResponse } from 'node:http';
import { waitsToBeRead } from '../admission/read-socket.ts';
import { type CountedSocket, connectionsOfClient } from './client-connections.ts';
import type { OpenSet } from './drain.ts';
import { unusedSince } from './unused-since.ts';

/** How long a client may keep a request from its end before that counts against its connection, in milliseconds. */
const patienceMs = 1000;
/**
 * How long nothing is looked for after nothing was found for a client, nor for others with more than half as many connections:
 * a flood of connections must not have all looked at for each. For those with fewer there may be one.
 */
const restMs = 10;

const seenKey = Symbol('as the last look found it');

/** A connection, with the bytes that had come when it was last found idle. */
type SeenSocket = CountedSocket & { [seenKey]?: number; _httpMessage?: SeenAnswer | null };

/** What Node owes the client of a connection, with the time at which a look first found it there. */
type SeenAnswer = ServerResponse & { [seenKey]?: number };

/** How well a connection is suited to give way; 0 does not at all. */
const atWork = 0;
const slow = 1;
const idle = 2;
const longIdle = 3;

/**
 * Finds the connection that gives way to a client with fewer. No request pays for this: what a connection does is looked up
 * only then, and how long it has been idle is known by what came in since the look before, as the hand of a clock goes
 * round all connections (second chance).
 */
export class DisplaceableConnections {
  readonly #open: OpenSet<CountedSocket>;
  #hand = -1;
  #restsUntil = 0;
  /** What the client had for which nothing was found. */
  #foundNoneFor = 0;

  constructor(open: OpenSet<CountedSocket>) {
    this.#open = open;
  }

  /**
   * The connection that gives way to a client with `own` connections. First of all one, whoever has it, that was closed after
   * its last answer and is only kept for a moment so that its client may read that. Else, of the client with the most that has
   * such, an idle one, between requests or before the first is complete, if possible one that has been idle since the last
   * look; else, of a client that keeps more than the new one also afterwards, one whose client has not sent its whole request
   * or not taken its whole answer for a second. Last comes one that counts for no client, such as a proxy's between requests,
   * once it has been idle for a second: the proxy may use it in the same moment, but the new one would be refused for certain.
   * One whose request is being worked on never gives way.
   *
   * @param most connections that any client has
   * @returns undefined where none gives way
   */
  find(own: number, most: number): CountedSocket | undefined {
    const now = performance.now();
    if (now < this.#restsUntil && own * 2 >= this.#foundNoneFor) return undefined;
    let best: { socket: SeenSocket; connections: number; suits: number } | undefined;
    for (let looked = this.#open.size; looked > 0; looked -= 1) {
      const socket: SeenSocket = this.#next();
      if (socket.writableFinished) return socket;
      const connections = connectionsOfClient(socket);
      if (connections <= own || connections < (best?.connections ?? 0)) continue;
      const suits = suitability(socket, now);
      if (suits === atWork || (suits === slow && connections <= own + 1)) continue;
      if (best && connections === best.connections && suits <= best.suits) continue;
      best = { socket, connections, suits };
      if (connections === most && suits === longIdle) break;
    }
    const found = best?.socket ?? this.#unowned(now);
    if (found === undefined) {
      this.#restsUntil = now + restMs;
      this.#foundNoneFor = own;
    }
    return found;
  }

  /**
   * Notes which connections wait for their clients. Their second counts from the first look at them: where none came before all
   * places were taken, nobody new would have one for that second.
   */
  look(): void {
    const now = performance.now();
    for (const socket of this.#open as Iterable<SeenSocket>) {
      if (socket._httpMessage) suitability(socket, now);
      else if (connectionsOfClient(socket) === 0) isLongUnused(socket, now);
    }
  }

  #unowned(now: number): CountedSocket | undefined {
    for (let looked = this.#open.size; looked > 0; looked -= 1) {
      const socket: SeenSocket = this.#next();
      if (connectionsOfClient(socket) === 0 && isLongUnused(socket, now)) return socket;
    }
    return undefined;
  }

  #next(): CountedSocket {
    this.#hand = this.#hand + 1 < this.#open.size ? this.#hand + 1 : 0;
    return this.#open.at(this.#hand);
  }
}

/** Whether nothing has come on a connection for a second; one that waits to be read may have brought much. */
function isLongUnused(socket: SeenSocket, now: number): boolean {
  return !socket._httpMessage && !waitsToBeRead(socket) && now - unusedSince(socket, now) >= patienceMs;
}

function suitability(socket: SeenSocket, now: number): number {
  const answer = socket._httpMessage;
  if (!answer) {
    const { bytesRead } = socket;
    const isUnused = socket[seenKey] === bytesRead;
    socket[seenKey] = bytesRead;
    return isUnused ? longIdle : idle;
  }
  if (answer.req.complete && !answer.headersSent) return atWork;
  answer[seenKey] ??= now;
  return now - answer[seenKey] >= patienceMs ? slow : atWork;
}
