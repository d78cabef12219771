import { write, writeSync } from 'node:fs';
import process from 'node:process';

/** A write begins once so many bytes are there, */
const pieceLength = 16_384;
/** and what comes while it is under way is kept in pieces of this length. */
const bufferLength = 65_536;
const longestCharacter = 3;
const retryMs = 10;
/** A reader that takes nothing for so long ends a write that waits for it. */
const patienceMs = 500;

interface Piece {
  readonly bytes: Buffer;
  from: number;
  to: number;
}

/**
 * Lines for a file descriptor, in order and none lost, written in larger pieces beside the requests: a line costs its
 * encoding. When nobody reads the other end any more, lines are dropped.
 */
export class BufferedOutput {
  readonly #descriptor: number;
  /** All but the last wait for the write under way; the last takes lines. */
  #pieces: Piece[] = [newPiece(bufferLength)];
  #spare: Piece | undefined;
  #writing = false;
  #closed = false;
  #drained: (() => void)[] = [];
  #progress: () => void = () => undefined;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** Takes a line, which ends in a line break. */
  write(line: string): void {
    if (this.#closed) return;
    const needed = line.length * longestCharacter;
    let piece = this.#last;
    if (piece.bytes.length - piece.to < needed) piece = this.#addPiece(needed);
    piece.to += piece.bytes.write(line, piece.to);
    if (!this.#writing && piece.to >= pieceLength) this.#writeNext();
  }

  /** Begins to write what is there, and calls `done` once it is written or dropped. */
  flush(done?: () => void): void {
    if (done) this.#drained.push(done);
    if (this.#closed) this.#tellDrained();
    else if (!this.#writing) this.#writeNext();
  }

  /** Writes all that no write has begun with, and waits for it, as long as somebody reads. */
  flushAtOnce(): void {
    const pieces = this.#writing ? this.#pieces.splice(1) : this.#pieces.splice(0);
    this.#pieces.push(newPiece(bufferLength));
    for (const piece of pieces) this.#writeAtOnce(piece);
  }

  /** Drops what is there and all that comes. */
  destroy(): void {
    this.#closed = true;
    this.#pieces = [newPiece(0)];
    this.#tellDrained();
  }

  /** Has `listener` called whenever some of it is written. */
  onProgress(listener: () => void): void {
    this.#progress = listener;
  }

  get #last(): Piece {
    return this.#pieces[this.#pieces.length - 1] as Piece;
  }

  #addPiece(needed: number): Piece {
    const piece = this.#freePiece(needed);
    this.#pieces.push(piece);
    if (!this.#writing) this.#writeNext();
    return piece;
  }

  #freePiece(needed: number): Piece {
    const spare = this.#spare;
    if (spare === undefined || needed > bufferLength) return newPiece(Math.max(needed, bufferLength));
    this.#spare = undefined;
    return spare;
  }

  #writeNext(): void {
    if (this.#pieces.length > 1 && isEmpty(this.#pieces[0])) this.#pieces.shift();
    const [piece] = this.#pieces as [Piece];
    if (this.#closed || isEmpty(piece)) {
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

  #wrote(piece: Piece, written: number): void {
    this.#writing = false;
    if (this.#closed) return;
    this.#progress();
    piece.from += written;
    if (isEmpty(piece)) {
      this.#pieces.shift();
      this.#recycle(piece);
    }
    const due = this.#pieces.length > 1 || this.#last.to >= pieceLength || this.#drained.length > 0;
    if (due) this.#writeNext();
  }

  #recycle(piece: Piece): void {
    if (piece.bytes.length !== bufferLength) return;
    piece.from = 0;
    piece.to = 0;
    this.#spare = piece;
  }

  #handle(error: NodeJS.ErrnoException): void {
    if (this.#closed) return;
    if (error.code === 'EAGAIN') {
      setTimeout(() => {
        this.#writing = false;
        this.#writeNext();
      }, retryMs);
      return;
    }
    this.#giveUp(error);
  }

  #writeAtOnce(piece: Piece): void {
    let until = performance.now() + patienceMs;
    while (!this.#closed && !isEmpty(piece)) {
      try {
        piece.from += writeSync(this.#descriptor, piece.bytes, piece.from, piece.to - piece.from);
        until = performance.now() + patienceMs;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code !== 'EAGAIN') this.#giveUp(error as NodeJS.ErrnoException);
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

function isEmpty(piece: Piece | undefined): boolean {
  return piece?.from === piece?.to;
}

function newPiece(length: number): Piece {
  return { bytes: Buffer.allocUnsafeSlow(length), from: 0, to: 0 };
}
