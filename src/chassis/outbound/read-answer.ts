import type { Readable } from 'node:stream';
import { PeerFailure } from './peer-failure.ts';

/** What a peer answered, before its body is looked at. */
export interface RawAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** Reads a body to its end. @throws PeerFailure when it is longer than `maxBytes` */
export async function readBounded(body: Readable, maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    length += piece.length;
    // Leaving the loop destroys the body, and with it the connection.
    if (length > maxBytes) throw new PeerFailure({ reason: 'too large' });
    pieces.push(piece);
  }
  return Buffer.concat(pieces, length);
}

/** The body as data: JSON parsed, other text as it is, `undefined` where there is none. @throws PeerFailure for what is no JSON */
export function answerData({ status, headers, body }: RawAnswer): unknown {
  if (body.length === 0) return undefined;
  const type = String(headers['content-type'] ?? '').toLowerCase();
  if (!/^application\/(?:[\w.-]+\+)?json\b/.test(type)) return type.startsWith('text/') ? body.toString() : body;
  try {
    return JSON.parse(body.toString());
  } catch (cause) {
    throw new PeerFailure({ reason: 'unreadable', status, cause });
  }
}

/** It is passed on to clients, of which some obey: a peer that names a year must not keep them away for longer than this. */
const longestRetryAfterMs = 3_600_000;

/** What Retry-After says, in milliseconds from now, an hour at most; undefined where it is missing or says nothing. */
export function retryAfterMs(header: string | string[] | undefined, now = Date.now()): number | undefined {
  if (typeof header !== 'string') return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), longestRetryAfterMs);
}
