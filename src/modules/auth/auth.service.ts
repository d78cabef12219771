import { ConflictException, UnauthorizedException } from '../../chassis/index.ts';
import type { Account, Login, Register, Tokens } from './auth.schema.ts';
import type { Caller } from './auth.types.ts';

type Dependencies = Pick<
  Slipway.Cradle,
  'accountRepository' | 'passwordService' | 'accessTokenService' | 'refreshTokenService'
>;

/**
 * Registration and sessions. Neither login nor refresh tells whether a user exists: the answer and the work behind it
 * are the same. Registration has to answer a duplicate with 409 (spec.md: Errors, body rule 3); it does so in words
 * that name no owner and after hashing the password like any other, so that asking costs as much as registering.
 */
export class AuthService {
  readonly #accounts: Dependencies['accountRepository'];
  readonly #passwords: Dependencies['passwordService'];
  readonly #accessTokens: Dependencies['accessTokenService'];
  readonly #refreshTokens: Dependencies['refreshTokenService'];

  constructor({ accountRepository, passwordService, accessTokenService, refreshTokenService }: Dependencies) {
    this.#accounts = accountRepository;
    this.#passwords = passwordService;
    this.#accessTokens = accessTokenService;
    this.#refreshTokens = refreshTokenService;
  }

  /** Stores a new user with the role `user`. ConflictException when the address is taken, ValidationException for a weak password. */
  async register({ email, password, name }: Register): Promise<Account> {
    const passwordHash = await this.#passwords.hash(password, { personal: [email, name] });
    try {
      return await this.#accounts.register({ email, name, passwordHash });
    } catch (cause) {
      if (!(cause instanceof ConflictException)) throw cause;
      throw new ConflictException('This e-mail address cannot be registered', undefined, { cause });
    }
  }

  /** Opens a session. Raises UnauthorizedException, the same one for an unknown address and for a wrong password. */
  async login({ email, password }: Login): Promise<Tokens> {
    const found = await this.#accounts.findCredentials(email);
    const matches = await this.#passwords.verify(password, found?.passwordHash);
    if (!found || !matches) {
      throw new UnauthorizedException('The e-mail address or the password is wrong', undefined, {
        headers: { 'WWW-Authenticate': 'Bearer' },
      });
    }
    return this.#tokens({ userId: found.id, role: found.role }, await this.#refreshTokens.start(found.id));
  }

  /** New tokens for a refresh token, which is thereby spent. Raises UnauthorizedException when it does not hold. */
  async refresh(refreshToken: string): Promise<Tokens> {
    const { token, ...caller } = await this.#refreshTokens.rotate(refreshToken);
    return this.#tokens(caller, token);
  }

  /** Ends the session that the refresh token belongs to; access tokens hold until they expire. */
  logout(refreshToken: string): Promise<void> {
    return this.#refreshTokens.revoke(refreshToken);
  }

  async #tokens(caller: Caller, refreshToken: string): Promise<Tokens> {
    const accessToken = await this.#accessTokens.issue(caller);
    return { accessToken, refreshToken, expiresIn: this.#accessTokens.lifetime };
  }
}
