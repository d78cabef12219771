import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { UnauthorizedException, uninterrupted, unitOfWork } from '../../chassis/index.ts';
import type { Caller } from './auth.types.ts';
import type { RefreshTokenRepository, StoredRefreshToken } from './refresh-token.repository.ts';

/**
 * Hands out and rotates refresh tokens: 256 random bits, of which only the SHA-256 is stored. The tokens that grew from
 * one login are a family. Each is good for one use; the second use of one means that somebody copied it, so the whole
 * family is revoked and both, thief and owner, have to log in again.
 */
export class RefreshTokenService {
  readonly #tokens: RefreshTokenRepository;
  readonly #logger: Slipway.Cradle['logger'];
  readonly #lifetime: number;

  constructor({
    refreshTokenRepository,
    logger,
    settings,
  }: Pick<Slipway.Cradle, 'refreshTokenRepository' | 'logger' | 'settings'>) {
    this.#tokens = refreshTokenRepository;
    this.#logger = logger;
    this.#lifetime = settings.AUTH_REFRESH_TOKEN_TTL_DAYS * 24 * 60 * 60 * 1000;
  }

  /** The first token of a new family; the user's expired ones are forgotten on the occasion. */
  async start(userId: string): Promise<string> {
    await this.#tokens.deleteExpired(userId);
    return this.#add(userId, randomUUID());
  }

  /**
   * Spends a token: its user with the role of today, and the token that follows. Raises UnauthorizedException, the same
   * one for a token that is unknown, expired, revoked or used; of concurrent uses at most one succeeds.
   */
  async rotate(token: string): Promise<Caller & { token: string }> {
    const found = await this.#tokens.findByHash(hashOf(token));
    if (!found || found.revokedAt || found.expiresAt <= new Date()) throw invalid();
    const { userId, familyId, user } = found;
    const successor = found.usedAt ? undefined : await this.#replace(found);
    if (successor) return { userId, role: user.role, token: successor };
    await uninterrupted(() => this.#tokens.revokeFamily(familyId));
    this.#logger.warn({ userId, familyId }, 'A refresh token was used twice; its family is revoked');
    throw invalid();
  }

  /** Revokes the token's family (log out), also when the client does not wait for it. A token that is unknown is passed over: its session is over anyway. */
  async revoke(token: string): Promise<void> {
    await uninterrupted(async () => {
      const found = await this.#tokens.findByHash(hashOf(token));
      if (found) await this.#tokens.revokeFamily(found.familyId);
    });
  }

  /** Revokes every token of a user, e.g. when the password changes. */
  revokeAll(userId: string): Promise<void> {
    return uninterrupted(() => this.#tokens.revokeAll(userId));
  }

  /**
   * Spends a token and stores its successor, both or neither; undefined when another use came first. That one is stored
   * by then, so what it got is found and revoked.
   */
  #replace({ id, userId, familyId }: StoredRefreshToken): Promise<string | undefined> {
    const replace = async () => ((await this.#tokens.spend(id)) ? this.#add(userId, familyId) : undefined);
    return unitOfWork(replace, { retries: 3 });
  }

  async #add(userId: string, familyId: string): Promise<string> {
    const token = randomBytes(32).toString('base64url');
    const expiresAt = new Date(Date.now() + this.#lifetime);
    await this.#tokens.create({ userId, familyId, tokenHash: hashOf(token), expiresAt });
    return token;
  }
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

function invalid(): UnauthorizedException {
  return new UnauthorizedException('The refresh token is invalid or has expired; log in again', undefined, {
    headers: { 'WWW-Authenticate': 'Bearer' },
  });
}
