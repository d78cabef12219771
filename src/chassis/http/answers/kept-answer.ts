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

/** One form of a body. */
interface Form {
  body: Buffer;
  etag: string;
}

/**
 * A long body that never changes, read and compressed once for all who ask for it: to compress a megabyte keeps a core for
 * 60 ms, which who asks for it again and again would take from all others, and a thousand who read a file of it at the same
 * time would fill the memory with pieces.
 */
export class KeptAnswer {
  readonly #read: () => Promise<Buffer>;
  #plain: Promise<Form> | undefined;
  #compressed: Promise<Form> | undefined;

  /** @param read gives the body, when it is first asked for */
  constructor(read: () => Promise<Buffer>) {
    this.#read = read;
  }

  /** Answers a request, by gzip where it takes that; the headers that tell of the body are set before. */
  async answer(request: Request, response: Response): Promise<void> {
    response.vary('Accept-Encoding');
    const takesGzip = namesEncodings(request) && request.acceptsEncodings('gzip') === 'gzip';
    const { body, etag } = await (takesGzip ? this.#gzipped() : this.#asItIs());
    if (takesGzip) response.setHeader('Content-Encoding', 'gzip');
    else response.setHeader('Cache-Control', `${response.getHeader('Cache-Control') ?? 'no-cache'}, no-transform`);
    if (!response.hasHeader('ETag')) response.setHeader('ETag', etag);
    response.send(body);
  }

  /** What could not be read is read again for the next one. */
  #asItIs(): Promise<Form> {
    this.#plain ??= this.#read()
      .then(formOf)
      .catch((error: unknown) => {
        this.#plain = undefined;
        throw error;
      });
    return this.#plain;
  }

  #gzipped(): Promise<Form> {
    this.#compressed ??= this.#asItIs()
      .then(async ({ body }) => formOf(await compress(body)))
      .catch((error: unknown) => {
        this.#compressed = undefined;
        throw error;
      });
    return this.#compressed;
  }
}

function formOf(body: Buffer): Form {
  return { body, etag: tagOf(body) };
}
