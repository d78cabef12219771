import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** What each chunk of a body brings on average, in bytes: a short line of JSON. */
const chunkBytes = 64;
/** Chunks of any size that a body may have beside those: they take about as long as a small request does. */
const smallChunks = 512;

/** Node sets it once it throws a body away, and from then on hands no chunk of it to `push`. */
interface Dumping {
  _dumped: boolean;
  _dump(): void;
}

/**
 * Makes a class of requests, for `createServer`, whose bodies come in chunks of a reasonable size, read or not. A chunk costs 2 µs and 240 bytes beside what it brings, so that a body of a few hundred KB in chunks of one
 * byte would take the event loop for a second, and 15 MB while it waits to be read. A large chunk makes up for small ones
 * before it, not for those that follow.
 *
 * @param cut called once for a body that has, beyond 512 small chunks, more than one for each 64 bytes; it is to end the
 * connection and what is parsed of it. The chunk is not handed on, nor is any after it.
 */
export function boundedRequest(cut: (socket: Socket, reason: 'chunks') => void): typeof IncomingMessage {
  return class BoundedRequest extends IncomingMessage {
    /** How much less has come in than the chunks should have brought, in bytes. */
    #missing = 0;

    override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
      if (chunk !== null) {
        this.#missing = Math.max(0, this.#missing + chunkBytes - chunk.length);
        if (this.#missing > smallChunks * chunkBytes) {
          if (!this.socket.destroyed) cut(this.socket, 'chunks');
          return false;
        }
      }
      return super.push(chunk, encoding);
    }

    /** Throws the rest of a body away, and counts it still. */
    _dump(this: BoundedRequest & Dumping): void {
      const dumped = this._dumped;
      dump.call(this);
      this._dumped = dumped;
    }
  };
}

const { _dump: dump } = IncomingMessage.prototype as IncomingMessage & Dumping;
