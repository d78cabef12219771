import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request, Response } from 'express';
import { namesEncodings } from './compress-responses.ts';

const compress = promisify(gzip);

/** The entity tag of a body, which says what its bytes are (RFC 9110, 8.8.3). */
export function tagOf(body: Buffer): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
}

/**
 * A long body that never changes, compressed once for all who ask for it: to compress a megabyte keeps a core for 60 ms,
 * which who asks for it again and again would take from all others.
 */
export class KeptGzip {
  readonly #read: () => Promise<Buffer>;
  #compressed: Promise<{ body: Buffer; etag: string }> | undefined;

  /** @param read gives the body, when it is first asked for */
  constructor(read: () => Promise<Buffer>) {
    this.#read = read;
  }

  /**
   * Answers a request that takes gzip; the headers that tell of the body are set before.
   *
   * @returns false for one that does not, to which nothing is sent yet
   */
  async answer(request: Request, response: Response): Promise<boolean> {
    response.vary('Accept-Encoding');
    if (!namesEncodings(request) || request.acceptsEncodings('gzip') !== 'gzip') return false;
    this.#compressed ??= this.#make();
    const { body, etag } = await this.#compressed;
    response.setHeader('Content-Encoding', 'gzip');
    if (!response.hasHeader('ETag')) response.setHeader('ETag', etag);
    response.send(body);
    return true;
  }

  /** What could not be read is read again for the next one. */
  async #make(): Promise<{ body: Buffer; etag: string }> {
    try {
      const body = await compress(await this.#read());
      return { body, etag: tagOf(body) };
    } catch (error) {
      this.#compressed = undefined;
      throw error;
    }
  }
}
