import { write, writeSync } from 'node:fs';
import process from 'node:process';

/** A part of an output: bytes of which those between `from` and `to` are still to be written. */
class OutputPiece {
  readonly bytes: Buffer;
  from = 0;
  to = 0;

  /** @param length of the buffer, in bytes */
  constructor(length: number) {
    this.bytes = Buffer.allocUnsafeSlow(length);
  }

  get isEmpty(): boolean {
    return this.from === this.to;
  }

  /** Whether there is room for this many more bytes. */
  hasRoomFor(length: number): boolean {
    return this.bytes.length - this.to >= length;
  }

  /** Puts a text at its end, for which there must be room, and gives the length in bytes. */
  add(text: string): number {
    const length = this.bytes.write(text, this.to);
    this.to += length;
    return length;
  }
}

/** A write begins once this many bytes are buffered, */
const pieceLength = 16_384;
/** and what comes while it is under way is kept in pieces of this length. */
const bufferLength = 65_536;
/** What may wait for a reader, or a disk, that takes nothing: then lines are dropped. */
const mostWaiting = 16_777_216;
const longestCharacter = 3;
/** Nobody will read any more: the other end was closed, or this one. */
const endings = new Set(['EPIPE', 'ECONNRESET', 'EBADF']);
const retryMs = 10;
/** A write fails when its reader takes nothing for this long. */
const patienceMs = 500;

/**
 * Lines for a file descriptor, in order and none lost, written in larger pieces beside the requests: a line costs its
 * encoding. While the other end takes nothing, 16 MB wait and what comes then is dropped, which a line says afterwards;
 * once nobody can read it any more, all is.
 */
export class BufferedOutput {
  readonly #descriptor: number;
  /** All but the last wait for the write under way; the last takes lines. */
  #pieces: OutputPiece[] = [new OutputPiece(bufferLength)];
  #spare: OutputPiece | undefined;
  #writing = false;
  /** Set while a reader that takes nothing is waited for: then no write is under way. */
  #retry: NodeJS.Timeout | undefined;
  #closed = false;
  #waiting = 0;
  #dropped = 0;
  #drained: (() => void)[] = [];
  #progress: () => void = () => undefined;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** Takes a line, which ends in a line break. */
  write(line: string): void {
    if (this.#closed) return;
    if (this.#waiting > mostWaiting) {
      this.#dropped += 1;
      return;
    }
    if (this.#dropped > 0) this.#tellDropped();
    this.#add(line);
  }

  /** Begins to write what is there, and calls `done` once it is written or dropped. */
  flush(done?: () => void): void {
    if (done) this.#drained.push(done);
    if (this.#closed) this.#tellDrained();
    else if (!this.#writing) this.#writeNext();
  }

  /** Writes all that no write has begun with, and waits for it, as long as somebody reads. */
  flushAtOnce(): void {
    if (this.#retry !== undefined) {
      clearTimeout(this.#retry);
      this.#retry = undefined;
      this.#writing = false;
    }
    const pieces = this.#writing ? this.#pieces.splice(1) : this.#pieces.splice(0);
    this.#pieces.push(new OutputPiece(bufferLength));
    for (const piece of pieces) this.#writeAtOnce(piece);
  }

  /** Drops what is there and all that comes. */
  destroy(): void {
    this.#closed = true;
    this.#pieces = [new OutputPiece(0)];
    this.#tellDrained();
  }

  /** Has `listener` called whenever some of it is written. */
  onProgress(listener: () => void): void {
    this.#progress = listener;
  }

  #add(line: string): void {
    const needed = line.length * longestCharacter;
    let piece = this.#last;
    if (!piece.hasRoomFor(needed)) piece = this.#addPiece(needed);
    this.#waiting += piece.add(line);
    if (!this.#writing && piece.to >= pieceLength) this.#writeNext();
  }

  #tellDropped(): void {
    const lines = this.#dropped;
    this.#dropped = 0;
    const message = 'lines of the log were dropped: nobody took them';
    this.#add(`${JSON.stringify({ level: 'error', time: Date.now(), lines, msg: message })}\n`);
  }

  get #last(): OutputPiece {
    return this.#pieces[this.#pieces.length - 1] as OutputPiece;
  }

  #addPiece(needed: number): OutputPiece {
    const piece = this.#freePiece(needed);
    this.#pieces.push(piece);
    if (!this.#writing) this.#writeNext();
    return piece;
  }

  #freePiece(needed: number): OutputPiece {
    const spare = this.#spare;
    if (spare === undefined || needed > bufferLength) return new OutputPiece(Math.max(needed, bufferLength));
    this.#spare = undefined;
    return spare;
  }

  #writeNext(): void {
    if (this.#pieces.length > 1 && this.#pieces[0]?.isEmpty) this.#pieces.shift();
    const [piece] = this.#pieces as [OutputPiece];
    if (this.#closed || piece.isEmpty) {
      this.#tellDrained();
      return;
    }
    this.#writing = true;
    // What is being written must not change.
    if (this.#pieces.length === 1) this.#pieces.push(this.#freePiece(0));
    write(this.#descriptor, piece.bytes, piece.from, piece.to - piece.from, null, (error, written) => {
      if (error) this.#handle(error);
      else this.#wrote(piece, written);
    });
  }

  #wrote(piece: OutputPiece, written: number): void {
    this.#writing = false;
    if (this.#closed) return;
    this.#progress();
    this.#waiting -= written;
    piece.from += written;
    if (piece.isEmpty) {
      this.#pieces.shift();
      this.#recycle(piece);
    }
    const due = this.#pieces.length > 1 || this.#last.to >= pieceLength || this.#drained.length > 0;
    if (due) this.#writeNext();
  }

  #recycle(piece: OutputPiece): void {
    if (piece.bytes.length !== bufferLength) return;
    piece.from = 0;
    piece.to = 0;
    this.#spare = piece;
  }

  #handle(error: NodeJS.ErrnoException): void {
    if (this.#closed) return;
    if (!endings.has(error.code ?? '')) {
      this.#retry = setTimeout(() => {
        this.#retry = undefined;
        this.#writing = false;
        this.#writeNext();
      }, retryMs);
      return;
    }
    this.#giveUp(error);
  }

  #writeAtOnce(piece: OutputPiece): void {
    let until = performance.now() + patienceMs;
    while (!this.#closed && !piece.isEmpty) {
      try {
        const written = writeSync(this.#descriptor, piece.bytes, piece.from, piece.to - piece.from);
        piece.from += written;
        this.#waiting -= written;
        until = performance.now() + patienceMs;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (endings.has(code ?? '')) this.#giveUp(error as NodeJS.ErrnoException);
        else if (performance.now() > until) this.destroy();
        else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs);
      }
    }
  }

  /** That the reader has gone is its right; anything else, such as a full disk, is told where it can be. */
  #giveUp(error: NodeJS.ErrnoException): void {
    if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET')
      process.emitWarning(`The log cannot be written any more: ${error.message}`);
    this.destroy();
  }

  #tellDrained(): void {
    const drained = this.#drained;
    this.#drained = [];
    for (const done of drained) done();
  }
}
