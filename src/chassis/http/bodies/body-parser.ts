import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { chargeRequest, currentClientKey, recheckCaller } from '../../context/request-context.ts';
import {
  BadRequestException,
  ServiceUnavailableException,
  UnsupportedMediaTypeException,
} from '../../errors/exceptions.ts';
import { onlyIf } from '../pipeline/middleware.ts';
import { maximumPairs, parseUrlEncoded } from '../pipeline/query-parameters.ts';
import { loopShare } from '../streams/loop-share.ts';
import { BodyBudget } from './body-budget.ts';
import { giveBack } from './body-pieces.ts';
import { countJsonValues } from './count-json-values.ts';
import { charsetOf, decodeText, unsupportedCharset } from './decode-text.ts';
import { KeptBodies, parsedBytes } from './kept-bodies.ts';
import { leaveRawBody } from './raw-bodies.ts';
import { type BodyLimits, bytesBesideBody, decompressBody, receiveBody, tooManyBodies } from './read-body.ts';
import { refuseUnsafeJson } from './refuse-unsafe-json.ts';
import { deferBody, hasBody, mediaType, methodsWithBody, readingOf, waitsForContinue } from './request-body.ts';
import { holdUnread } from './unread-body.ts';

/** A shorter one costs next to nothing, whatever it holds; in bytes. */
const longText = 4_096;
/** A longer one is parsed in its turn, in bytes: hundreds that come in together would keep the event loop for a second. */
const promptText = 16_384;
/** A shorter one takes less memory than its connection does. */
const countedText = 512;
/**
 * What a long body costs beside its records, in units of `chargeRequest`. To receive, parse and check a megabyte keeps the
 * process busy for 25 ms and more, a page of a list, which costs 60, for 4.
 */
const bytesOfUnit = 3_000;
const valuesOfUnit = 1_000;
const shapingOfUnit = 100;

/** How much of a body the service reads. */
interface BodyParserOptions {
  /** In bytes, before and after decompression. */
  limitBytes: number;
  /** All bodies together that are still coming in, and what those hold that have come in, in bytes. Default 64 MB. */
  budgetBytes?: number;
  /** What counts them, where bodies count in it that others hold. Default: one of `budgetBytes`. */
  budget?: BodyBudget;
  /**
   * Leaves it to the handlers of `readBodyFirst`, behind the guards, to parse what was received here, and to receive the body
   * of a client that waits for `100 Continue`. Default false: all of it is done here.
   */
  defer?: boolean;
  /** Whether the route of a request asks for the bytes: they are left to it, of whatever type. Default: none does. */
  isRaw?: (req: Request) => boolean;
}

/**
 * Receives JSON and URL-encoded bodies and parses them into `req.body` (spec.md: Endpoints). Multipart bodies pass through to
 * the routes that take uploads.
 *
 * @throws BadRequestException for a body that is not valid JSON or UTF-8, nests too deep or holds a key such as `__proto__`
 * @throws PayloadTooLargeException for a body beyond the limit, of more than 50,000 values or more than 2,000 different names
 * @throws UnsupportedMediaTypeException for POST, PUT and PATCH with a type, character set or encoding that is not read
 * @throws ServiceUnavailableException for incoming bodies of the client that holds the most while all together hold more than
 * the budget, those that no route reads yet among them, and for an address whose requests under way hold too much of bodies
 */
export function bodyParser(options: BodyParserOptions): RequestHandler {
  const { limitBytes, budgetBytes = 67_108_864, budget, defer = false, isRaw = () => false } = options;
  const bodies = new Bodies(limitBytes, budget ?? new BodyBudget(budgetBytes));
  function leaveTo(read: () => Promise<void>, req: Request, res: Response, next: NextFunction): void {
    deferBody(req, read);
    holdUnread(req, res, bodies.budget);
    next();
  }
  function parseBody(req: Request, res: Response, next: NextFunction): unknown {
    if (isRaw(req)) return leaveTo(bodies.rawReader(req), req, res, next);
    const format = formatOf(req);
    if (format === undefined) {
      const type = mediaType(req);
      if (!type.startsWith('multipart/') && methodsWithBody.has(req.method)) return next(unreadable(type));
      holdUnread(req, res, bodies.budget);
      return next();
    }
    // JSON is Unicode (RFC 8259, 8.1).
    if (format.isJson && !format.charset.startsWith('utf')) return next(unsupportedCharset(format.charset));
    const read = () => bodies.read(req, format);
    if (defer && waitsForContinue(req)) return leaveTo(read, req, res, next);
    void (defer ? bodies.receiveFirst(req, format) : read()).then(() => next(), next);
  }
  return onlyIf(hasBody, parseBody);
}

/** How the text of a body is read. */
interface Format {
  readonly isJson: boolean;
  readonly charset: string;
  /** Whether the route asks for the bytes too. Default false. */
  readonly isRaw?: boolean;
}

/** Undefined for a type that the service leaves to the routes. */
function formatOf(req: Request): Format | undefined {
  const reading = readingOf(mediaType(req));
  return reading && { isJson: reading === 'json', charset: charsetOf(req.headers['content-type'] ?? '') };
}

/** The bodies of one service, which share its memory. */
class Bodies {
  readonly budget: BodyBudget;
  readonly #limits: BodyLimits;
  readonly #kept: KeptBodies;

  constructor(limitBytes: number, budget: BodyBudget) {
    this.budget = budget;
    this.#limits = { limitBytes, budget };
    this.#kept = new KeptBodies(budget.limit);
  }

  /** Receives a body and parses it. */
  async read(req: Request, format: Format): Promise<void> {
    await this.#parse(req, await this.#receive(req), format);
  }

  /** Receives a body, so that a slow one holds nothing of what guards ask for, and leaves the rest for later. */
  async receiveFirst(req: Request, format: Format): Promise<void> {
    const received = await this.#receive(req);
    deferBody(req, () => this.#parse(req, received, format));
  }

  /** Leaves the bytes to the route; gives what parses them, or has `req.body` be them where they are of another type. */
  rawReader(req: Request): () => Promise<void> {
    const bytes = leaveRawBody(req, async () => {
      const plain = await this.#plainOf(req, await this.#receive(req));
      await recheckCaller();
      return plain;
    });
    const format = formatOf(req);
    return async () => {
      const body = await bytes();
      if (format) await this.#parseInTurn(req, body, { ...format, isRaw: true });
      else req.body = body;
    };
  }

  async #receive(req: Request): Promise<Buffer> {
    const bytes = await receiveBody(req, this.#limits);
    try {
      if (bytes.length > countedText) this.#kept.keep(req, bytes.length);
    } catch (refusal) {
      // It came in all the same.
      paidFor(bytes);
      giveBack(bytes);
      throw refusal;
    }
    return bytes;
  }

  #parse(req: Request, received: Buffer, format: Format): Promise<void> | undefined {
    const bytes = this.#plainOf(req, received);
    if (bytes instanceof Promise) return bytes.then((plain) => this.#parseInTurn(req, plain, format));
    return this.#parseInTurn(req, bytes, format);
  }

  #parseInTurn(req: Request, bytes: Buffer, format: Format): Promise<void> | undefined {
    if (bytes.length > promptText) return this.#parseLater(req, bytes, format);
    this.#parsePlain(req, bytes, format);
    return undefined;
  }

  async #parseLater(req: Request, bytes: Buffer, format: Format): Promise<void> {
    const held = bytes.length + bytesBesideBody(req);
    try {
      await this.budget.holdUntil(loopShare.turn(), currentClientKey(), held, tooManyBodies);
      if (req.socket.destroyed) throw new BadRequestException('The client left before the request body was parsed');
      this.#parsePlain(req, bytes, format);
    } finally {
      if (!format.isRaw) giveBack(bytes);
    }
  }

  /** A body as it was meant, which the request pays for and holds before anybody looks at it, such as who checks its signature. */
  #plainOf(req: Request, received: Buffer): Buffer | Promise<Buffer> {
    const bytes = decompressBody(req, received, this.#limits);
    if (!(bytes instanceof Promise)) return paidFor(bytes);
    return bytes.then(
      (plain) => {
        if (plain.length > countedText) this.#kept.keep(req, plain.length);
        // A megabyte may become nothing, after as long.
        const paid = paidFor(plain, Math.max(plain.length, received.length));
        giveBack(received);
        return paid;
      },
      (error: unknown) => {
        // How much was decompressed until then nobody knows.
        if (!(error instanceof ServiceUnavailableException)) chargeRequest(this.#limits.limitBytes / bytesOfUnit);
        throw error;
      },
    );
  }

  #parsePlain(req: Request, bytes: Buffer, { isJson, charset, isRaw }: Format): void {
    const { length } = bytes;
    const text = decodeText(bytes, charset);
    if (!isRaw) giveBack(bytes);
    if (text.length > countedText) {
      const { values, shaping } = isJson ? countJsonValues(text) : { values: maximumPairs, shaping: 0 };
      if (length > longText) chargeRequest(values / valuesOfUnit + shaping / shapingOfUnit);
      this.#kept.keep(req, parsedBytes(text, length, values));
    }
    req.body = isJson ? parseJson(text) : parseUrlEncoded(text);
  }
}

/** Charges the request for the bytes of a body. */
function paidFor(bytes: Buffer, length = bytes.length): Buffer {
  if (length > longText) chargeRequest(length / bytesOfUnit);
  return bytes;
}

function parseJson(text: string): unknown {
  // Clients that send no body in chunks mean none.
  if (text === '') return {};
  const value = parseText(text);
  refuseUnsafeJson(value);
  return value;
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The parser's own message quotes the body, so only the place is taken from it.
    const [, position] = /at position (\d+)/.exec((cause as Error).message) ?? [];
    const place = position === undefined ? '' : `: unexpected text at position ${position}`;
    throw new BadRequestException(`The request body is not valid JSON${place}`, undefined, { cause });
  }
}

function unreadable(type: string): UnsupportedMediaTypeException {
  const found = type === '' ? 'no Content-Type' : JSON.stringify(type.slice(0, 100));
  return new UnsupportedMediaTypeException(
    `Expected a body of type application/json or application/x-www-form-urlencoded, found ${found}`,
  );
}
