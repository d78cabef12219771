import { createHash, randomBytes } from 'node:crypto';

const idBytes = 16;
const secretBytes = 32;
const form = /^[\w-]{64}$/;

/** A refresh token as a client holds it, and the hash of it that is stored. */
export interface RefreshToken {
  readonly token: string;
  readonly hash: string;
}

/** A new token of a session: the session's identifier and 256 random bits. */
export function newRefreshToken(sessionId: string): RefreshToken {
  const id = Buffer.from(sessionId.replaceAll('-', ''), 'hex');
  const token = Buffer.concat([id, randomBytes(secretBytes)]).toString('base64url');
  return { token, hash: hashRefreshToken(token) };
}

/** The session that a token says it belongs to; undefined for a text that is no token. */
export function sessionOfRefreshToken(token: string): string | undefined {
  if (!form.test(token)) return undefined;
  const id = Buffer.from(token, 'base64url').toString('hex', 0, idBytes);
  return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** What is stored of a token: its SHA-256, which is enough for 256 random bits. */
export function hashRefreshToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
