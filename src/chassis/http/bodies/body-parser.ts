import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { chargeRequest } from '../../context/request-context.ts';
import { BadRequestException, UnsupportedMediaTypeException } from '../../errors/exceptions.ts';
import { onlyIf } from '../pipeline/middleware.ts';
import { maximumPairs, parseUrlEncoded } from '../pipeline/query-parameters.ts';
import { BodyBudget } from './body-budget.ts';
import { countJsonValues } from './count-json-values.ts';
import { charsetOf, decodeText, unsupportedCharset } from './decode-text.ts';
import { KeptBodies } from './kept-bodies.ts';
import { leaveRawBody } from './raw-bodies.ts';
import { readBody } from './read-body.ts';
import { refuseUnsafeJson } from './refuse-unsafe-json.ts';
import {
  deferBody,
  hasBody,
  mediaType,
  methodsWithBody,
  type Reading,
  readingOf,
  waitsForContinue,
} from './request-body.ts';
import { holdUnread } from './unread-body.ts';

/** A shorter one costs next to nothing, whatever it holds; in characters. */
const longText = 4_096;
/** A shorter one takes less memory than its connection does. */
const countedText = 512;
const valuesOfUnit = 1_000;
const charactersOfUnit = 100_000;

/** How much of a body the service reads. */
interface BodyParserOptions {
  /** In bytes, before and after decompression. */
  limitBytes: number;
  /** All bodies together that are still coming in, and what those hold that have been parsed, in bytes. Default 64 MB. */
  budgetBytes?: number;
  /**
   * Leaves the body of a client that waits for `100 Continue` to the handlers of `readBodyFirst`, behind the guards. Default
   * false: it is read here.
   */
  deferExpected?: boolean;
  /** Whether the route of a request asks for the bytes: they are left to it, of whatever type. Default: none does. */
  isRaw?: (req: Request) => boolean;
}

/**
 * Parses JSON and URL-encoded bodies into `req.body` (spec.md: Endpoints). Multipart bodies pass through to the routes
 * that take uploads.
 *
 * @throws BadRequestException for a body that is not valid JSON or UTF-8, nests too deep or holds a key such as `__proto__`
 * @throws PayloadTooLargeException for a body beyond the limit, of more than 50,000 values or more than 2,000 different names
 * @throws UnsupportedMediaTypeException for POST, PUT and PATCH with a type, character set or encoding that is not read
 * @throws ServiceUnavailableException for incoming bodies of the client that holds the most while all together hold more than
 * the budget, those that no route reads yet among them, and for an address whose requests under way hold too much of parsed bodies
 */
export function bodyParser(options: BodyParserOptions): RequestHandler {
  const { limitBytes, budgetBytes = 67_108_864, deferExpected = false, isRaw = () => false } = options;
  const limits = { limitBytes, budget: new BodyBudget(budgetBytes) };
  const kept = new KeptBodies(budgetBytes);
  function parseKept(req: Request, reading: Reading, bytes: Buffer, charset: string): void {
    const text = decodeText(bytes, charset);
    const isJson = reading === 'json';
    if (text.length > countedText) {
      const values = isJson ? countJsonValues(text) : maximumPairs;
      if (isJson && text.length > longText) chargeForJson(text, values);
      kept.keep(req, { text, length: bytes.length, values });
    }
    req.body = isJson ? parseJson(text) : parseUrlEncoded(text);
  }
  async function read(req: Request, reading: Reading, charset: string): Promise<void> {
    parseKept(req, reading, await readBody(req, limits), charset);
  }
  function leaveRaw(req: Request): void {
    const bytes = leaveRawBody(req, () => readBody(req, limits));
    const reading = readingOf(mediaType(req));
    const charset = charsetOf(req.headers['content-type'] ?? '');
    deferBody(req, async () => {
      const body = await bytes();
      if (reading) parseKept(req, reading, body, charset);
      else req.body = body;
    });
  }
  function parseBody(req: Request, res: Response, next: NextFunction): unknown {
    if (isRaw(req)) {
      leaveRaw(req);
      holdUnread(req, res, limits.budget);
      return next();
    }
    const type = mediaType(req);
    const reading = readingOf(type);
    if (reading === undefined) {
      if (!type.startsWith('multipart/') && methodsWithBody.has(req.method)) return next(unreadable(type));
      holdUnread(req, res, limits.budget);
      return next();
    }
    const charset = charsetOf(req.headers['content-type'] ?? '');
    // JSON is Unicode (RFC 8259, 8.1).
    if (reading === 'json' && !charset.startsWith('utf')) return next(unsupportedCharset(charset));
    if (!deferExpected || !waitsForContinue(req)) return void read(req, reading, charset).then(() => next(), next);
    deferBody(req, () => read(req, reading, charset));
    holdUnread(req, res, limits.budget);
    next();
  }
  return onlyIf(hasBody, parseBody);
}

/** What a long body costs beside being received, in units of `chargeRequest`: so its client pays for it at overload. */
function chargeForJson(text: string, values: number): void {
  chargeRequest(values / valuesOfUnit + text.length / charactersOfUnit);
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
