import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants } from 'node:zlib';
import compression from 'compression';
import type { RequestHandler, Response } from 'express';
import { onClose } from '../pipeline/request-pipeline.ts';

/** The least time between two flushes of a stream, so that one that writes much still compresses well. */
const flushMs = 50;

/** Bodies of this length and more are compressed, in bytes. */
const threshold = 1024;

/** How far back brotli looks for what it has seen, as a power of two in bytes: by default 4 MB, which each long response would hold twice. */
const windowBits = 16;

/** How much memory compression may take. */
interface CompressionOptions {
  /** Of all responses that are being compressed, in bytes. Default 64 MB. */
  budgetBytes?: number;
  /** Tells when memory is short, so that responses are sent as they are. Default: it never is. */
  memory?: { readonly isShort: boolean };
}

/** In characters: browsers send thirty. To read as many as a request has room for takes longer than most answers. */
const longestEncodings = 256;

/** Whether a request names encodings that its answer may have, and no more of them than a client knows. */
export function namesEncodings({ headers }: IncomingMessage): boolean {
  const named = headers['accept-encoding'];
  return named !== undefined && named.length <= longestEncodings;
}

/**
 * Compresses responses of 1 KB and more (spec.md: Loaders, HTTP configuration). A request without Accept-Encoding, or with a
 * longer one than any client has, passes untouched, because the wrapping of a response costs as much as a small request. What
 * a handler writes before it ends its answer is sent on at once, not when the compressor has enough of it.
 *
 * A compressor holds the whole body until its client has taken it, which no limit on unsent bytes sees. Responses beyond
 * `budgetBytes` are therefore sent as they are.
 */
export function compressResponses({ budgetBytes = 67_108_864, memory }: CompressionOptions = {}): RequestHandler {
  const budget = new CompressionBudget(budgetBytes);
  const compress = compression({
    threshold,
    brotli: { params: { [constants.BROTLI_PARAM_LGWIN]: windowBits } },
    // A part of a file is no part of the compressed file.
    filter: (req, res) =>
      res.statusCode !== 206 &&
      compression.filter(req, res) &&
      (isLeftAlone(res) || hasRoom(budget, res, memory?.isShort)),
  });
  return function compressResponse(req, res, next) {
    if (!namesEncodings(req)) {
      next();
      return;
    }
    compress(req, res, () => {
      flushWrites(res);
      keepDrainListeners(res);
      next();
    });
  };
}

/** Whether `compression` leaves a response alone, such as a short one, a compressed one or a stream of events, which holds nothing of the budget. */
function isLeftAlone(res: ServerResponse): boolean {
  if (res.hasHeader('content-encoding')) return true;
  const isShort = Number(res.getHeader('content-length') ?? threshold) < threshold;
  return isShort || res.req.method === 'HEAD' || /\bno-transform\b/.test(String(res.getHeader('cache-control')));
}

function hasRoom(budget: CompressionBudget, res: Response, isShort = false): boolean {
  const length = res.getHeader('content-length');
  if (!isShort && budget.hold(res, length === undefined ? streamBytes : compressorBytes + copies * Number(length)))
    return true;
  // Caches must not take it for the only form of the response.
  res.vary('Accept-Encoding');
  return false;
}

/** The first piece goes out at once, later ones after `flushMs` at most. */
function flushWrites(res: Response): void {
  const write = res.write;
  let timer: NodeJS.Timeout | undefined;
  let flushedAt = Number.NEGATIVE_INFINITY;
  function flush(): void {
    timer = undefined;
    flushedAt = performance.now();
    if (!res.writableEnded && !res.destroyed) res.flush();
  }
  res.write = function writeAndFlush(...chunk: unknown[]) {
    if (timer === undefined) timer = setTimeout(flush, Math.max(0, flushedAt + flushMs - performance.now())).unref();
    return Reflect.apply(write, res, chunk);
  } as typeof write;
}

/** `compression` hands listeners of `drain` to its compressor, where they could not be removed. */
function keepDrainListeners(res: Response): void {
  const on = res.on;
  const removeListener = res.removeListener;
  let compressor: EventEmitter | undefined;
  res.on = function addListener(event: string, listener: (...values: unknown[]) => void) {
    // The compressor, once there is one.
    const target: EventEmitter = Reflect.apply(on, res, [event, listener]);
    if (event === 'drain' && target !== res) compressor = target;
    return res;
  } as typeof on;
  res.removeListener = function removeFromAll(event: string, listener: (...values: unknown[]) => void) {
    if (event === 'drain') compressor?.removeListener(event, listener);
    return Reflect.apply(removeListener, res, [event, listener]);
  } as typeof removeListener;
  res.off = res.removeListener;
}

/** What a compressor takes beside its body, in bytes: measured for gzip on Node 24, brotli takes less. */
const compressorBytes = 300_000;
/** What it takes for a body whose length is not known, once its windows are full: measured for brotli on Node 24, gzip takes less. */
const streamBytes = 1_000_000;
/** A body is held as text and as bytes, and brotli keeps twice as much of it. */
const copies = 4;

/**
 * Bounds what all compressors hold of memory. One response is compressed however long it is, so that a small budget does
 * not switch compression off.
 */
class CompressionBudget {
  readonly #limit: number;
  #total = 0;

  /** @param limit in bytes */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts what a response takes until it is closed; false where there is no room for it. */
  hold(res: ServerResponse, bytes: number): boolean {
    if (this.#total > 0 && this.#total + bytes > this.#limit) return false;
    this.#total += bytes;
    onClose(res, () => {
      this.#total -= bytes;
    });
    return true;
  }
}
