import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

const idBytes = 16;
const secretBytes = 32;
const sealBytes = 16;
const form = /^(?:[\w-]{64}|[\w-]{86})$/;

/** A refresh token as a client holds it, and the hash of it that is stored. */
export interface RefreshToken {
  readonly token: string;
  readonly hash: string;
}

/**
 * Makes refresh tokens: the session's identifier, 256 random bits, and a seal by which the service knows those that it has
 * made. A token that was used is told by it from one that somebody made up from the identifier of a session, which is no
 * secret.
 */
export class RefreshTokens {
  readonly #key: Buffer;

  /** @param secret from which the key of the seals is derived (AUTH_JWT_SECRET) */
  constructor(secret: string) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', 'slipway refresh tokens', 32));
  }

  /** A new token of a session. */
  make(sessionId: string): RefreshToken {
    const id = Buffer.from(sessionId.replaceAll('-', ''), 'hex');
    const content = Buffer.concat([id, randomBytes(secretBytes)]);
    const token = Buffer.concat([content, this.#seal(content)]).toString('base64url');
    return { token, hash: hashRefreshToken(token) };
  }

  /** Whether the service has made a token; false for those of before tokens had seals, or of another secret. */
  isOwn(token: string): boolean {
    const bytes = Buffer.from(token, 'base64url');
    const [content, seal] = [bytes.subarray(0, idBytes + secretBytes), bytes.subarray(idBytes + secretBytes)];
    return seal.length === sealBytes && timingSafeEqual(seal, this.#seal(content));
  }

  #seal(content: Buffer): Buffer {
    return createHmac('sha256', this.#key).update(content).digest().subarray(0, sealBytes);
  }
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
