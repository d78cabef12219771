import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { BadRequestException } from '../../errors/exceptions.ts';
import { badParameter } from '../parse/parameter.ts';

/** Seals positions in a list into opaque texts, and opens them again. */
export interface CursorCodec {
  /** Seals values for one binding: the model, order and filter they belong to. */
  encode(values: readonly unknown[], binding: string): string;
  /**
   * The sealed values.
   *
   * @throws BadRequestException when the text was not made by this codec for this binding
   */
  decode(text: string, binding: string): unknown[];
}

const version = 1;
const macBytes = 16;
const minSecret = 32;
const maxCharacters = 8192;

/**
 * Makes the codec of a service. A cursor is base64url of a version byte, a truncated HMAC-SHA256 over version, binding
 * and values, and the values as JSON. The values are signed, not hidden: they are those of fields that the client may
 * sort by, and the primary key.
 *
 * The key is derived from the secret for this one use, so that nothing signed here tells of another use of the secret.
 *
 * @param secret at least 32 bytes; processes that share it accept each other's cursors
 */
export function createCursorCodec(secret: string): CursorCodec {
  const bytes = Buffer.byteLength(secret);
  if (bytes < minSecret) {
    throw new Error(`A cursor secret needs at least ${minSecret} bytes, got ${bytes}. Set CURSOR_SECRET.`);
  }
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'slipway paging cursors', 32));
  const sign = (payload: string | Buffer, binding: string) =>
    createHmac('sha256', key)
      .update(`${version}\0${binding.length}\0${binding}`)
      .update(payload)
      .digest()
      .subarray(0, macBytes);
  return {
    encode(values, binding) {
      const payload = JSON.stringify(values.map(pack));
      return Buffer.concat([Buffer.of(version), sign(payload, binding), Buffer.from(payload)]).toString('base64url');
    },
    decode(text, binding) {
      if (text.length > maxCharacters) throw foreignCursor();
      const bytes = Buffer.from(text, 'base64url');
      // Decoding passes over letters and bits that do not count: one position has one text, which is the one signed here.
      if (bytes.toString('base64url') !== text) throw foreignCursor();
      const mac = bytes.subarray(1, 1 + macBytes);
      const payload = bytes.subarray(1 + macBytes);
      if (bytes[0] !== version || mac.length < macBytes) throw foreignCursor();
      if (!timingSafeEqual(mac, sign(payload, binding))) throw foreignCursor();
      return unpacked(payload.toString());
    },
  };
}

/** The same codec, whose cursors are valid only for callers who see the same rows, which `scopeKey` names. */
export function cursorsOf(codec: CursorCodec, scopeKey: string): CursorCodec {
  return {
    encode: (values, binding) => codec.encode(values, `${binding}\0${scopeKey}`),
    decode: (text, binding) => codec.decode(text, `${binding}\0${scopeKey}`),
  };
}

/** The answer to a cursor that does not belong to the request, whatever is wrong with it. */
export function foreignCursor(): BadRequestException {
  const message =
    'expected a nextCursor of the same list with the same orderBy and where; start again with an empty cursor';
  return badParameter('cursor', [{ path: '', message }]);
}

// JSON knows neither dates nor big integers; decimals of the ORM go back to it as text, without an exponent.
function pack(value: unknown): unknown {
  if (value instanceof Date) return { date: value.getTime() };
  if (typeof value === 'bigint') return { bigint: String(value) };
  if (typeof value !== 'object' || value === null) return value;
  return 'toFixed' in value && typeof value.toFixed === 'function' ? value.toFixed() : String(value);
}

function unpacked(payload: string): unknown[] {
  try {
    const values: unknown = JSON.parse(payload);
    if (Array.isArray(values)) return values.map(unpack);
  } catch {
    // Answered below like any other content that this codec does not write.
  }
  throw foreignCursor();
}

function unpack(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { date, bigint } = value as { date?: number; bigint?: string };
  return date === undefined ? BigInt(bigint as string) : new Date(date);
}
