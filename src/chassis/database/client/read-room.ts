import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { BadRequestException } from '../../errors/exceptions.ts';
import { tryAgain } from '../../errors/try-again.ts';

/** What comes of reads of fewer bytes is not counted: at most one for each connection. */
const largeBytes = 1_048_576;
/** For how long a read waits for memory, and how often it looks. */
const longestWaitMs = 2000;
const lookMs = 50;

/** How much results may bring. */
export interface ReadLimits {
  /** Bytes of one result, and of all that come in at the same time. */
  readonly mostBytes: number;
  /** Whether there is memory for more of something large. Default: there always is. */
  hasRoom?(): boolean;
}

/** A result that is longer than any may be. */
export class ReadTooLongException extends BadRequestException {}

/** Waits until there is memory for something large. @throws ServiceUnavailableException after two seconds without */
export async function untilRoom({ hasRoom }: ReadLimits): Promise<void> {
  const until = performance.now() + longestWaitMs;
  while (hasRoom !== undefined && !hasRoom()) {
    if (performance.now() > until) throw noRoom();
    await sleep(lookMs);
  }
}

/** A connection of the driver: its socket, and the messages of its protocol. */
interface WatchedConnection {
  readonly stream: Socket;
  on(event: 'readyForQuery', listener: () => void): void;
}

/**
 * Bounds what results of the database take in memory by what they weigh as they come in: nobody knows before how long the
 * texts of the records are. What comes takes several times as much until its answer is written. One that is longer than all
 * may be ends with its connection, for the server has the rest ready. While several large ones together are longer, those that
 * began later stop reading, and where memory is short all do, for two seconds at most. Small results pay for an addition for
 * each piece of 64 KB.
 */
export class ReadRoom {
  readonly #limits: ReadLimits;
  /** The large results that come in, in the order in which they became large. */
  readonly #large: Reading[] = [];
  #bytes = 0;

  constructor(limits: ReadLimits) {
    this.#limits = limits;
  }

  /** Counts what comes in on a connection, which runs one statement after the other. */
  watch(connection: WatchedConnection): void {
    const { stream } = connection;
    const reading = new Reading(stream);
    const ended = () => {
      if (reading.bytes > largeBytes) this.#remove(reading);
      reading.bytes = 0;
    };
    // Before the driver takes it.
    stream.prependListener('data', (piece: Buffer) => {
      reading.bytes += piece.length;
      if (reading.bytes > largeBytes) this.#grow(reading, piece.length);
    });
    stream.once('close', ended);
    connection.on('readyForQuery', ended);
  }

  #grow(reading: Reading, added: number): void {
    const isNew = reading.bytes - added <= largeBytes;
    if (isNew) this.#large.push(reading);
    this.#bytes += isNew ? reading.bytes : added;
    const { mostBytes } = this.#limits;
    if (reading.bytes > mostBytes) reading.end(tooLong(mostBytes));
    else if (!this.#mayGoOn(reading)) reading.pause(() => this.#mayGoOn(reading));
  }

  #mayGoOn(reading: Reading): boolean {
    const hasRoom = reading === this.#large[0] || this.#bytes <= this.#limits.mostBytes;
    return hasRoom && (this.#limits.hasRoom?.() ?? true);
  }

  #remove(reading: Reading): void {
    reading.resume();
    this.#large.splice(this.#large.indexOf(reading), 1);
    this.#bytes -= reading.bytes;
    for (const other of this.#large) if (other.isPaused && this.#mayGoOn(other)) other.resume();
  }
}

/** A result that comes in. */
class Reading {
  bytes = 0;
  readonly #stream: Socket;
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: Socket) {
    this.#stream = stream;
  }

  get isPaused(): boolean {
    return this.#timer !== undefined;
  }

  /** Reads no further until it may. */
  pause(mayGoOn: () => boolean): void {
    if (this.isPaused) return;
    this.#stream.pause();
    const until = performance.now() + longestWaitMs;
    this.#timer = setInterval(() => {
      if (mayGoOn()) this.resume();
      else if (performance.now() > until) this.end(noRoom());
    }, lookMs);
  }

  resume(): void {
    clearInterval(this.#timer);
    if (this.isPaused) this.#stream.resume();
    this.#timer = undefined;
  }

  end(reason: Error): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#stream.destroy(reason);
  }
}

function noRoom(): Error {
  return tryAgain('Results of much text are under way; try again in a moment');
}

/** What a result is refused with that is longer than any may be. */
export function tooLong(mostBytes: number): ReadTooLongException {
  const most = `more than ${Math.floor(mostBytes / 1_048_576)} MB`;
  const message = `What was asked for is ${most}; ask for fewer records, or include less`;
  return new ReadTooLongException(message, undefined, { stack: false });
}
