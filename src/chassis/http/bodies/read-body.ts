import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { currentClientKey } from '../../context/request-context.ts';
import {
  BadRequestException,
  type BaseException,
  PayloadTooLargeException,
  ServiceUnavailableException,
  UnsupportedMediaTypeException,
} from '../../errors/exceptions.ts';
import { tryAgain } from '../../errors/try-again.ts';
import { fieldBytes } from '../pipeline/request-pipeline.ts';
import type { BodyBudget, HeldBody } from './body-budget.ts';
import { giveBack, pieceCounter } from './body-pieces.ts';

/** A map, because an object would also know `constructor`, which gives a body back as it is. */
const decompressors = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

/** A body that comes in smaller pieces than this is put together on the way: each piece costs some 200 bytes beside its own. */
const pieceBytes = 1_024;
const loosePieces = 32;
/** So much of a body is counted at a time, in bytes: counting takes longer than a small piece. */
const countedBytes = 4_096;
/** What is decompressed at a time, in bytes: each takes a way to zlib's thread and back, and only a few bodies are under way. */
const chunkSize = 131_072;

/** What a request holds of memory while its body comes in, beside the body: measured, on Node 24. */
const requestBytes = 24_576;

/** The same with its header fields, which may be a hundred or long. */
export function bytesBesideBody({ rawHeaders }: IncomingMessage): number {
  let bytes = requestBytes + rawHeaders.length * fieldBytes;
  for (const { length } of rawHeaders) bytes += length;
  return bytes;
}

/** How much of a body is read. */
export interface BodyLimits {
  /** Of one body, in bytes, as it is sent and after decompression. */
  limitBytes: number;
  /** What all bodies that come in hold together. */
  budget: BodyBudget;
}

/**
 * Receives a body to its end, as it was sent. What the headers alone tell to be too large or unreadable is refused before
 * a byte is read.
 *
 * @throws PayloadTooLargeException beyond the limit; UnsupportedMediaTypeException for an unknown Content-Encoding;
 * ServiceUnavailableException when the body has to give way to others; BadRequestException when it does not come whole; what
 * `chargeRequest` raises for one in more pieces than its client has points for
 */
export async function receiveBody(req: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const encoding = encodingOf(req);
  if (encoding !== plain && !decompressors.has(encoding)) throw unsupportedEncoding(encoding);
  if (Number(req.headers['content-length'] ?? 0) > limits.limitBytes) throw tooLarge(limits.limitBytes);
  return collect(req, currentClientKey(), limits);
}

/**
 * Decompresses a body that was received, in its turn; gives it as it is where it was not compressed.
 *
 * @throws PayloadTooLargeException beyond the limit; ServiceUnavailableException when the body has to give way to others;
 * BadRequestException when it cannot be decompressed
 */
export function decompressBody(
  req: IncomingMessage,
  body: Buffer,
  { limitBytes, budget }: BodyLimits,
): Buffer | Promise<Buffer> {
  const decompress = decompressors.get(encodingOf(req));
  if (!decompress) return body;
  const work = async () => {
    // Its client has left while it waited.
    if (req.socket.destroyed) throw new Error('The connection is closed');
    return decompress(body, { maxOutputLength: limitBytes, chunkSize });
  };
  const held = body.length + bytesBesideBody(req);
  const waiting = { client: currentClientKey(), bytes: held, mostBytes: limitBytes, refusal: tooManyBodies };
  return budget.decompress(waiting, work).catch((cause: unknown) => {
    if (cause instanceof ServiceUnavailableException) throw cause;
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limitBytes);
    throw new BadRequestException('The request body cannot be decompressed', undefined, { cause });
  });
}

const plain = 'identity';

function encodingOf({ headers }: IncomingMessage): string {
  return headers['content-encoding']?.toLowerCase() ?? plain;
}

/** Collects what comes in; however it ends, nothing of the body is held or counted any more. */
function collect(req: IncomingMessage, client: string, { limitBytes, budget }: BodyLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let pieces: Buffer[] = [];
    const body: HeldBody = { client, bytes: 0, refuse: () => fail(tooManyBodies()) };
    const countPiece = pieceCounter();
    let length = 0;
    let counted = 0;
    function take(piece: Buffer): void {
      length += piece.length;
      if (length > limitBytes) {
        fail(tooLarge(limitBytes));
        return;
      }
      pieces.push(piece);
      if (pieces.length > loosePieces + length / pieceBytes) pieces = [joined(pieces)];
      if (length - counted < countedBytes) return;
      budget.hold(body, length - counted);
      counted = length;
    }
    function takePaid(piece: Buffer): void {
      try {
        countPiece();
      } catch (refusal) {
        fail(refusal as BaseException);
        return;
      }
      take(piece);
    }
    function complete(): void {
      end();
      resolve(joined(pieces));
    }
    function abandon(cause: Error): void {
      fail(new BadRequestException('The request was aborted before its body arrived', undefined, { cause }));
    }
    function fail(failure: BaseException): void {
      end();
      pieces.forEach(giveBack);
      pieces = [];
      reject(failure);
    }
    function end(): void {
      budget.release(body);
      req.off('data', takePaid).off('end', complete).off('error', abandon);
    }
    req.on('data', takePaid).on('end', complete).on('error', abandon);
    budget.hold(body, bytesBesideBody(req));
  });
}

/** The pieces as one; they themselves are gone. */
function joined(pieces: readonly Buffer[]): Buffer {
  const [only] = pieces;
  if (only && pieces.length === 1) return only;
  const bytes = Buffer.concat(pieces);
  pieces.forEach(giveBack);
  return bytes;
}

function tooLarge(limitBytes: number): PayloadTooLargeException {
  return new PayloadTooLargeException(`The request body is larger than ${limitBytes} bytes`);
}

/** What a body is refused with that has to give way to others. */
export function tooManyBodies(): ServiceUnavailableException {
  return tryAgain('Too many request bodies are coming in; try again', { Connection: 'close' });
}

function unsupportedEncoding(encoding: string): UnsupportedMediaTypeException {
  return new UnsupportedMediaTypeException(
    `Content encoding ${JSON.stringify(encoding.slice(0, 100))} is not supported; send the body as it is, or as gzip, deflate or br`,
  );
}
