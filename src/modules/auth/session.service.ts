import { randomUUID } from 'node:crypto';
import { afterCommit, NotFoundException, UnauthorizedException, uninterrupted } from 'slipway';
import type { Credentials } from './account.repository.ts';
import type { Session } from './auth.schema.ts';
import type { Caller, Device } from './auth.types.ts';
import { tenantOf } from './caller.context.ts';
import { hashRefreshToken, RefreshTokens, sessionOfRefreshToken } from './refresh.token.ts';
import type { StoredSession } from './session.repository.ts';

type Dependencies = Pick<Slipway.Cradle, 'sessionRepository' | 'auditEventService' | 'logger' | 'settings'>;

/** The account that a session is opened for. */
type Opener = Pick<Credentials, 'id' | 'role' | 'organizationId'>;

/** A session and its refresh token, which the client gets. */
export type OpenSession = Caller & { refreshToken: string };

const day = 24 * 60 * 60 * 1000;
/** How long the address of a session counts as one that its user logs in from. */
const knownFor = 90 * day;
/** A stronger isolation would refuse to end what is exchanged at the same moment. */
const ending = { isolation: 'read-committed' } as const;

/**
 * The sessions of accounts: one for each login, which lives while its refresh token is exchanged in time, and at most
 * AUTH_SESSION_MAX_DAYS. Each refresh token is good for one use. The second use of one means that somebody copied it, so
 * the session is removed and both, thief and owner, have to log in again.
 */
export class SessionService {
  readonly #sessions: Dependencies['sessionRepository'];
  readonly #audit: Dependencies['auditEventService'];
  readonly #logger: Dependencies['logger'];
  readonly #tokens: RefreshTokens;
  readonly #idleMs: number;
  readonly #longestMs: number;
  readonly #recentMs: number;

  constructor({ sessionRepository, auditEventService, logger, settings }: Dependencies) {
    this.#sessions = sessionRepository;
    this.#audit = auditEventService;
    this.#logger = logger;
    this.#tokens = new RefreshTokens(settings.AUTH_JWT_SECRET);
    this.#idleMs = settings.AUTH_REFRESH_TOKEN_TTL_DAYS * day;
    this.#longestMs = settings.AUTH_SESSION_MAX_DAYS * day;
    this.#recentMs = settings.AUTH_REAUTHENTICATE_MINUTES * 60_000;
  }

  /** Opens a session of a user whose password was just verified. Belongs into a unit of work that locks the account. */
  async open(account: Opener, { address, userAgent }: Device): Promise<OpenSession> {
    const { id: userId, role } = account;
    const now = Date.now();
    const id = randomUUID();
    const { token, hash } = this.#tokens.make(id);
    const endsAt = new Date(now + this.#longestMs);
    const moment = new Date(now);
    await this.#sessions.create({
      id,
      userId,
      tokenHash: hash,
      address,
      userAgent: userAgent?.slice(0, 300) ?? null,
      authenticatedAt: moment,
      lastUsedAt: moment,
      expiresAt: this.#expiry(endsAt),
      endsAt,
    });
    const authenticatedAt = moment;
    return { userId, role, tenantId: tenantOf(account), sessionId: id, authenticatedAt, refreshToken: token };
  }

  /**
   * Exchanges a refresh token for the next one. Of concurrent uses at most one succeeds, and the others end the session.
   *
   * @throws UnauthorizedException the same one for a token that is unknown, expired, used or of a session that has ended
   */
  async rotate(token: string, { address }: Device): Promise<OpenSession> {
    const found = await this.#find(token);
    if (!found || !isAlive(found)) throw invalid();
    const { id, userId, endsAt, authenticatedAt, user } = found;
    const { token: refreshToken, hash: to } = this.#tokens.make(id);
    const from = hashRefreshToken(token);
    const rotation = { from, to, expiresAt: this.#expiry(endsAt), address };
    if (from === found.tokenHash && (await this.#sessions.rotate(id, rotation))) {
      const tenantId = tenantOf({ ...user, id: userId });
      return { userId, role: user.role, tenantId, sessionId: id, authenticatedAt, refreshToken };
    }
    await uninterrupted(() => this.#sessions.unitOfWork(() => this.#revokeReused(id), ending));
    throw invalid();
  }

  /** Ends the session of a refresh token, also when the client does not wait for it. One that is unknown is passed over. */
  async logout(token: string): Promise<void> {
    await uninterrupted(async () => {
      const found = await this.#find(token);
      if (!found) return;
      const { id, userId } = found;
      await this.#sessions.unitOfWork(async () => {
        if (!(await this.#sessions.end(id))) return;
        await this.#audit.record({ action: 'session.ended', actorId: userId, subjectId: userId });
      }, ending);
    });
  }

  /** The sessions of a user that live; the one with `currentId` is marked. */
  async list(userId: string, currentId: string): Promise<Session[]> {
    const sessions = await this.#sessions.findLive(userId);
    return sessions.map((session) => ({ ...session, current: session.id === currentId }));
  }

  /** Ends one session of a user. Its access tokens write no more; for reads they hold until they expire. */
  end(id: string, userId: string): Promise<void> {
    const end = async () => {
      if (await this.#sessions.removeAlive(id, userId))
        return this.#audit.record({ action: 'session.ended', subjectId: userId });
      // Its end was told when it ended; its address is known until now.
      if (!(await this.#sessions.remove(id, userId))) throw new NotFoundException('Session not found');
    };
    return uninterrupted(() => this.#sessions.unitOfWork(end, ending));
  }

  /** Ends all sessions of a user. Belongs into a unit of work that locks the account. */
  endAll(userId: string): Promise<void> {
    return this.#sessions.removeAll(userId);
  }

  /** The session of an access token with its user's role and organization of now, asked at the database; undefined when it has ended. */
  async findAlive({ sessionId, userId }: Pick<Caller, 'sessionId' | 'userId'>): Promise<StoredSession | undefined> {
    const found = await this.#sessions.findWithRole(sessionId);
    return found && found.userId === userId && isAlive(found) ? found : undefined;
  }

  /** Notes that the user of a session has given the password. @throws UnauthorizedException when the session has ended */
  async confirm(id: string): Promise<void> {
    if (!(await this.#sessions.confirm(id))) throw sessionEnded();
  }

  /**
   * Lets a change through that a stolen token or an unattended session must not make (RFC 9470).
   *
   * @throws UnauthorizedException when the session has ended, or the password was given too long ago
   */
  async requireRecent(caller: Pick<Caller, 'sessionId' | 'userId'>): Promise<void> {
    const session = await this.findAlive(caller);
    if (session && Date.now() - session.authenticatedAt.getTime() <= this.#recentMs) return;
    const challenge = `Bearer error="insufficient_user_authentication", max_age="${this.#recentMs / 1000}"`;
    throw new UnauthorizedException('Confirm your password with POST /auth/reauthenticate, then try again', undefined, {
      headers: { 'WWW-Authenticate': challenge },
    });
  }

  /** Whether the account with this e-mail address had a session at this client address within 90 days. */
  isKnownAddress(email: string, address: string): Promise<boolean> {
    return this.#sessions.isKnown(email, address, new Date(Date.now() - knownFor));
  }

  /** Removes the sessions of all accounts whose address counts no more: those that were over 90 days ago. */
  removeOld(signal: AbortSignal): Promise<number> {
    return this.#sessions.removeInBatches({ expiresAt: { lt: new Date(Date.now() - knownFor) } }, signal);
  }

  /** The session of a token that is its present one, or that was: nobody else may use or end it. */
  async #find(token: string): Promise<StoredSession | null> {
    const id = sessionOfRefreshToken(token);
    const found = id === undefined ? null : await this.#sessions.findWithRole(id);
    return found?.tokenHash === hashRefreshToken(token) || this.#tokens.isOwn(token) ? found : null;
  }

  /** A session that has ended meanwhile was not misused. */
  async #revokeReused(id: string): Promise<void> {
    const found = await this.#sessions.findWithRole(id);
    if (!found || !(await this.#sessions.removeAlive(id, found.userId))) return;
    const { userId } = found;
    await this.#audit.record({ action: 'session.reused', subjectId: userId });
    afterCommit(() => this.#logger.warn({ userId, sessionId: id }, 'refresh token used twice: session revoked'));
  }

  #expiry(endsAt: Date): Date {
    return new Date(Math.min(Date.now() + this.#idleMs, endsAt.getTime()));
  }
}

/** What an access token is refused with whose session has ended. */
export function sessionEnded(): UnauthorizedException {
  const headers = { 'WWW-Authenticate': 'Bearer error="invalid_token"' };
  return new UnauthorizedException('The session has ended; log in again', undefined, { headers });
}

function isAlive({ endedAt, expiresAt }: StoredSession): boolean {
  return endedAt === null && expiresAt > new Date();
}

function invalid(): UnauthorizedException {
  return new UnauthorizedException('The refresh token is invalid or has expired; log in again', undefined, {
    headers: { 'WWW-Authenticate': 'Bearer' },
  });
}
