import { Repository } from 'slipway';
import type { Role } from './auth.types.ts';

/** A session, and the role and organization that its user has now. */
export interface StoredSession {
  id: string;
  userId: string;
  tokenHash: string;
  authenticatedAt: Date;
  expiresAt: Date;
  endsAt: Date;
  endedAt: Date | null;
  user: { role: Role; organizationId: string | null };
}

type Found = Omit<StoredSession, 'user'> & { user: StoredSession['user'] | null };

/** What a rotation writes. */
export interface Rotation {
  from: string;
  to: string;
  expiresAt: Date;
  address: string;
}

/** The sessions of all accounts, by the hash of the refresh token that is good now. */
export class SessionRepository extends Repository<'session'> {
  protected readonly model = 'session';

  /**
   * The session with this identifier and its user's role and organization, or null. The ORM reads the user after the session: one deleted
   * in between took the session along.
   */
  async findWithRole(id: string): Promise<StoredSession | null> {
    const select = {
      id: true,
      userId: true,
      tokenHash: true,
      authenticatedAt: true,
      expiresAt: true,
      endsAt: true,
      endedAt: true,
      user: { select: { role: true, organizationId: true } },
    };
    const found = (await this.orm.session.findUnique({ where: { id }, select })) as Found | null;
    return found?.user ? { ...found, user: found.user } : null;
  }

  /**
   * Puts one token hash in the place of another, in one conditional statement: true for exactly one of several callers at
   * once, and only while the session lives.
   */
  async rotate(id: string, { from, to, expiresAt, address }: Rotation): Promise<boolean> {
    const { count } = await this.orm.session.updateMany({
      where: { id, tokenHash: from, ...alive() },
      data: { tokenHash: to, expiresAt, address, lastUsedAt: new Date() },
    });
    return count === 1;
  }

  /** Notes that the password was given now. True when the session was alive. */
  async confirm(id: string): Promise<boolean> {
    const data = { authenticatedAt: new Date() };
    return (await this.orm.session.updateMany({ where: { id, ...alive() }, data })).count === 1;
  }

  /** Ends a session and keeps it, because its address is known as the user's. True when it was alive. */
  async end(id: string): Promise<boolean> {
    const data = { endedAt: new Date() };
    return (await this.orm.session.updateMany({ where: { id, ...alive() }, data })).count === 1;
  }

  /** Removes a session of a user that is alive, and with it the trust in its address. True when it was. */
  async removeAlive(id: string, userId: string): Promise<boolean> {
    return (await this.orm.session.deleteMany({ where: { id, userId, ...alive() } })).count === 1;
  }

  /** The same of one that may have ended. True when there was one. */
  async remove(id: string, userId: string): Promise<boolean> {
    const { count } = await this.orm.session.deleteMany({ where: { id, userId } });
    return count === 1;
  }

  /** Removes all sessions of a user. */
  async removeAll(userId: string): Promise<void> {
    await this.orm.session.deleteMany({ where: { userId } });
  }

  /** The sessions of a user that live, the last used first. */
  findLive(userId: string) {
    return this.orm.session.findMany({
      where: { userId, ...alive() },
      orderBy: [{ lastUsedAt: 'desc' }, { id: 'desc' }],
      select: { id: true, address: true, userAgent: true, createdAt: true, lastUsedAt: true, expiresAt: true },
      take: 100,
    });
  }

  /** Whether the account with this e-mail address had a session at this client address since a moment. */
  async isKnown(email: string, address: string, since: Date): Promise<boolean> {
    const where = { address, lastUsedAt: { gt: since }, user: { email } };
    return (await this.orm.session.findFirst({ where, select: { id: true } })) !== null;
  }
}

/** What sessions are now that have neither ended nor expired. */
function alive() {
  return { endedAt: null, expiresAt: { gt: new Date() } };
}
