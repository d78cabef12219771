import type { IncomingHttpHeaders } from 'node:http';
import { BaseException } from '../../errors/exceptions.ts';

/** A part of a file: its first and its last byte, counted from 0. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * What `Range` asks for, where it counts: not with an `If-Range` of another content. Dates are never the same, because
 * files have none (RFC 9110, 13.1.5).
 */
export function askedRange(headers: IncomingHttpHeaders, etag: string): string | undefined {
  const { range, 'if-range': ifRange } = headers;
  return ifRange === undefined || ifRange === etag ? range : undefined;
}

/**
 * The part of a file that a `Range` names (RFC 9110, 14.1.2); undefined for the whole of it, which also answers several parts,
 * other units and what cannot be read.
 *
 * @param size of the file, in bytes
 * @throws BaseException with status 416 for a part that begins behind the end
 */
export function byteRange(range: string, size: number): ByteRange | undefined {
  const [, first = '', last = ''] = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(range) ?? [];
  if (first === '' && last === '') return undefined;
  const isSuffix = first === '';
  const start = isSuffix ? Math.max(0, size - Number(last)) : Number(first);
  const end = isSuffix || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (!isSuffix && last !== '' && Number(last) < start) return undefined;
  if (start < size) return { start, end };
  if (isSuffix && Number(last) > 0) return undefined;
  throw new BaseException(`The file has ${size} bytes, and none of the range asked for`, 416, undefined, {
    headers: { 'Content-Range': `bytes */${size}` },
  });
}
