import { afterCommit, ConflictException, NotFoundException, uninterrupted } from 'slipway';
import type { ApiKey, CreateApiKey, NewApiKey } from './api-key.schema.ts';
import type { Caller } from './auth.types.ts';

type Dependencies = Pick<
  Slipway.Cradle,
  'apiKeyRepository' | 'apiKeyProvider' | 'accountRepository' | 'sessionService' | 'auditEventService'
>;

const day = 24 * 60 * 60 * 1000;
/** How many keys a user may have at a time. */
const mostKeys = 20;

/** The API keys that users make for programs of theirs. */
export class ApiKeyService {
  readonly #keys: Dependencies['apiKeyRepository'];
  readonly #provider: Dependencies['apiKeyProvider'];
  readonly #accounts: Dependencies['accountRepository'];
  readonly #sessions: Dependencies['sessionService'];
  readonly #audit: Dependencies['auditEventService'];

  constructor({
    apiKeyRepository,
    apiKeyProvider,
    accountRepository,
    sessionService,
    auditEventService,
  }: Dependencies) {
    this.#keys = apiKeyRepository;
    this.#provider = apiKeyProvider;
    this.#accounts = accountRepository;
    this.#sessions = sessionService;
    this.#audit = auditEventService;
  }

  /** The keys of a user, without their secrets. */
  list(userId: string): Promise<ApiKey[]> {
    return this.#keys.findOf(userId);
  }

  /**
   * Makes a key for the caller, which is in this answer and nowhere else.
   *
   * @throws ConflictException when the user has too many, UnauthorizedException when the password was given too long ago
   */
  create(
    caller: Pick<Caller, 'sessionId' | 'userId'>,
    { name, scopes, expiresInDays }: CreateApiKey,
  ): Promise<NewApiKey> {
    const { userId } = caller;
    const { id, key, hash } = this.#provider.create();
    const now = new Date();
    const expiresAt = new Date(now.getTime() + expiresInDays * day);
    const distinct = [...new Set(scopes)];
    const make = async () => {
      await this.#accounts.lock(userId);
      await this.#sessions.requireRecent(caller);
      if ((await this.#keys.countOf(userId)) >= mostKeys)
        throw new ConflictException(`Expected at most ${mostKeys} API keys of a user; revoke one that is not used`);
      await this.#keys.create({ id, userId, name, hash, scopes: distinct.join(' '), expiresAt, createdAt: now });
      const details = `${id}: ${distinct.join(' ')}`;
      await this.#audit.record({ action: 'apiKey.created', subjectId: userId, details });
      return { id, name, scopes: distinct, expiresAt, createdAt: now, key };
    };
    return this.#accounts.unitOfWork(make, { isolation: 'read-committed' });
  }

  /** Ends a key of a user: nothing is written with it any more, and nothing read after a few seconds. */
  async revoke(id: string, userId: string): Promise<void> {
    const revoke = async () => {
      if (!(await this.#keys.remove(id, userId))) throw new NotFoundException('API key not found');
      await this.#noteRevoked(id, userId);
    };
    await uninterrupted(() => this.#keys.unitOfWork(revoke, { isolation: 'read-committed' }));
  }

  /** Ends all keys of a user. Belongs into a unit of work that locks the account. */
  async revokeAll(userId: string): Promise<void> {
    for (const id of await this.#keys.removeAll(userId)) await this.#noteRevoked(id, userId);
  }

  async #noteRevoked(id: string, userId: string): Promise<void> {
    await this.#audit.record({ action: 'apiKey.revoked', subjectId: userId, details: id });
    afterCommit(() => this.#provider.forget(id));
  }
}
