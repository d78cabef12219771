import { Repository } from '../../chassis/index.ts';
import type { Role } from './auth.types.ts';

/** A stored refresh token and the role that its user has now. */
export interface StoredRefreshToken {
  id: string;
  userId: string;
  familyId: string;
  expiresAt: Date;
  usedAt: Date | null;
  revokedAt: Date | null;
  user: { role: Role };
}

/** The refresh tokens that were handed out, by their hashes. */
export class RefreshTokenRepository extends Repository<'refreshToken'> {
  protected readonly model = 'refreshToken';

  /** The token with this hash, or null. */
  async findByHash(tokenHash: string): Promise<StoredRefreshToken | null> {
    const include = { user: { select: { role: true } } };
    return (await this.orm.refreshToken.findUnique({ where: { tokenHash }, include })) as StoredRefreshToken | null;
  }

  /** Marks a token as used, in one conditional statement: true for exactly one of several callers at once. */
  async spend(id: string): Promise<boolean> {
    const where = { id, usedAt: null, revokedAt: null };
    const { count } = await this.orm.refreshToken.updateMany({ where, data: { usedAt: new Date() } });
    return count === 1;
  }

  /** Revokes all tokens that grew from one login. */
  async revokeFamily(familyId: string): Promise<void> {
    await this.orm.refreshToken.updateMany({ where: { familyId, revokedAt: null }, data: { revokedAt: new Date() } });
  }

  /** Revokes all tokens of a user. */
  async revokeAll(userId: string): Promise<void> {
    await this.orm.refreshToken.updateMany({ where: { userId, revokedAt: null }, data: { revokedAt: new Date() } });
  }

  /** Forgets the tokens of a user that have expired: they would be refused anyway. */
  async deleteExpired(userId: string): Promise<void> {
    await this.orm.refreshToken.deleteMany({ where: { userId, expiresAt: { lt: new Date() } } });
  }
}
