import { ConflictException, UnauthorizedException, uninterrupted, ValidationException } from 'slipway';
import type { Account, ChangePassword, Login, LogoutAll, Register, Tokens } from './auth.schema.ts';
import type { Device } from './auth.types.ts';
import type { OpenSession } from './session.service.ts';

type Dependencies = Pick<
  Slipway.Cradle,
  | 'accountRepository'
  | 'passwordService'
  | 'accessTokenService'
  | 'sessionService'
  | 'apiKeyService'
  | 'auditEventService'
>;

/** A unit that waited for another one, which held the same row, goes on with what that one has stored. */
const locking = { isolation: 'read-committed' } as const;

/**
 * Registration, login and the own password. Neither login nor refresh tells whether a user exists: the answer and the work
 * behind it are the same. Registration has to answer a duplicate with 409 (spec.md: Errors, body rule 3); it does so in
 * words that name no owner and after hashing the password like any other, so that asking costs as much as registering.
 */
export class AuthService {
  readonly #accounts: Dependencies['accountRepository'];
  readonly #passwords: Dependencies['passwordService'];
  readonly #accessTokens: Dependencies['accessTokenService'];
  readonly #sessions: Dependencies['sessionService'];
  readonly #keys: Dependencies['apiKeyService'];
  readonly #audit: Dependencies['auditEventService'];

  constructor(dependencies: Dependencies) {
    this.#accounts = dependencies.accountRepository;
    this.#passwords = dependencies.passwordService;
    this.#accessTokens = dependencies.accessTokenService;
    this.#sessions = dependencies.sessionService;
    this.#keys = dependencies.apiKeyService;
    this.#audit = dependencies.auditEventService;
  }

  /**
   * Stores a new user with the role `user`.
   *
   * @throws ConflictException when the address is taken
   * @throws ValidationException for a password that is easy to guess
   */
  async register({ email, password, name }: Register): Promise<Account> {
    const passwordHash = await this.#passwords.hash(password, { personal: [email, name] });
    try {
      return await this.#accounts.unitOfWork(async () => {
        const account = await this.#accounts.register({ email, name, passwordHash });
        await this.#audit.record({ action: 'account.registered', actorId: account.id, subjectId: account.id });
        return account;
      });
    } catch (cause) {
      if (!(cause instanceof ConflictException)) throw cause;
      throw new ConflictException('This e-mail address cannot be registered', undefined, { cause });
    }
  }

  /** Opens a session. @throws UnauthorizedException when address or password is wrong, the same one for both */
  async login({ email, password }: Login, device: Device): Promise<Tokens> {
    const found = await this.#accounts.findCredentials(email);
    const matches = await this.#passwords.verify(password, found?.passwordHash, device);
    const session = found && matches ? await this.#open(found.id, found.passwordHash, device) : undefined;
    if (session) return this.#tokens(session);
    await uninterrupted(() => this.#audit.record({ action: 'login.failed', subjectId: found?.id }));
    throw new UnauthorizedException('The e-mail address or the password is wrong', undefined, {
      headers: { 'WWW-Authenticate': 'Bearer' },
    });
  }

  /** New tokens for a refresh token, which is thereby spent. @throws UnauthorizedException when it is not valid */
  async refresh(refreshToken: string, device: Device): Promise<Tokens> {
    return this.#tokens(await this.#sessions.rotate(refreshToken, device));
  }

  /**
   * Changes the own password, ends all sessions of the account, and its API keys where that is asked for, and opens a new one.
   *
   * @throws ValidationException when the current password is wrong or the new one is easy to guess
   */
  async changePassword(userId: string, body: ChangePassword, device: Device): Promise<Tokens> {
    const { currentPassword, newPassword, revokeApiKeys } = body;
    const { email, name, passwordHash } = await this.#verified(userId, currentPassword, 'currentPassword');
    const next = await this.#passwords.hash(newPassword, { personal: [email, name], field: 'newPassword' });
    const change = async () => {
      const account = (await this.#accounts.lock(userId)).get(userId);
      if (account?.passwordHash !== passwordHash) throw wrong('currentPassword');
      await this.#accounts.setPasswordHash(userId, next);
      await this.#endAll(userId, revokeApiKeys);
      await this.#audit.record({ action: 'password.changed', subjectId: userId });
      return this.#sessions.open(account, device);
    };
    return this.#tokens(await uninterrupted(() => this.#accounts.unitOfWork(change, locking)));
  }

  /**
   * Confirms the password of the session's user, which sensitive changes ask for.
   *
   * @throws ValidationException when it is wrong, UnauthorizedException when the session has ended meanwhile
   */
  async reauthenticate(userId: string, sessionId: string, password: string): Promise<void> {
    await this.#verified(userId, password, 'password');
    const confirm = async () => {
      await this.#sessions.confirm(sessionId);
      await this.#audit.record({ action: 'password.confirmed', subjectId: userId });
    };
    await this.#accounts.unitOfWork(confirm, locking);
  }

  /** Ends all sessions of the user, and its API keys where that is asked for. */
  async logoutAll(userId: string, { revokeApiKeys }: LogoutAll): Promise<void> {
    const end = async () => {
      await this.#accounts.lock(userId);
      await this.#endAll(userId, revokeApiKeys);
      await this.#audit.record({ action: 'sessions.ended', subjectId: userId });
    };
    await uninterrupted(() => this.#accounts.unitOfWork(end, locking));
  }

  /** A password that was changed, or a user that was deleted, after the password was verified opens nothing. */
  #open(userId: string, verifiedHash: string, device: Device): Promise<OpenSession | undefined> {
    return this.#accounts.unitOfWork(async () => {
      const account = (await this.#accounts.lock(userId)).get(userId);
      if (account?.passwordHash !== verifiedHash) return undefined;
      await this.#audit.record({ action: 'login.succeeded', actorId: userId, subjectId: userId });
      return this.#sessions.open(account, device);
    }, locking);
  }

  async #endAll(userId: string, revokeApiKeys: boolean): Promise<void> {
    await this.#sessions.endAll(userId);
    if (revokeApiKeys) await this.#keys.revokeAll(userId);
  }

  async #verified(userId: string, password: string, field: string) {
    const found = await this.#accounts.findCredentialsById(userId);
    if (found && (await this.#passwords.verify(password, found.passwordHash, { isKnown: true }))) return found;
    await uninterrupted(() => this.#audit.record({ action: 'password.refused', subjectId: userId }));
    throw wrong(field);
  }

  async #tokens({ refreshToken, ...caller }: OpenSession): Promise<Tokens> {
    const accessToken = await this.#accessTokens.issue(caller);
    return { accessToken, refreshToken, expiresIn: this.#accessTokens.lifetime };
  }
}

function wrong(field: string): ValidationException {
  return new ValidationException({ [field]: ['The password is wrong'] });
}
