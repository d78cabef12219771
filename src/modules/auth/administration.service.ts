import { currentPrincipal, ForbiddenException, uninterrupted } from 'slipway';
import type { AuditEntry } from './auth.types.ts';

type Dependencies = Pick<
  Slipway.Cradle,
  'accountRepository' | 'sessionService' | 'apiKeyService' | 'auditEventService'
>;

/** A change of an account: what the audit trail keeps of it, and whether it ends the account's sessions and API keys. */
export interface AccountChange extends Pick<AuditEntry, 'action'> {
  readonly subjectId: string | undefined;
  /** What changes; a function is asked once nobody else can change the account, before the change. */
  readonly details?: AuditEntry['details'] | (() => Promise<string>);
  readonly endSessions?: boolean;
  readonly revokeApiKeys?: boolean;
}

/**
 * Changes that administrators make to accounts: creation, e-mail address, password, role and deletion. Each runs in one
 * unit of work that holds the caller and the account, so that who lost the role, the session or the account meanwhile
 * changes nothing more, and asks for a password that was given lately (RFC 9470).
 */
export class AdministrationService {
  readonly #accounts: Dependencies['accountRepository'];
  readonly #sessions: Dependencies['sessionService'];
  readonly #keys: Dependencies['apiKeyService'];
  readonly #audit: Dependencies['auditEventService'];

  constructor({ accountRepository, sessionService, apiKeyService, auditEventService }: Dependencies) {
    this.#accounts = accountRepository;
    this.#sessions = sessionService;
    this.#keys = apiKeyService;
    this.#audit = auditEventService;
  }

  /**
   * Runs `work` for the caller of the request under way.
   *
   * @throws UnauthorizedException when the session has ended, or the password was given too long ago
   * @throws ForbiddenException when the caller is no administrator, now
   */
  change<T extends object | null>(
    { action, details, subjectId, endSessions, revokeApiKeys }: AccountChange,
    work: () => Promise<T>,
  ) {
    const run = async () => {
      await this.#admit(subjectId);
      const told = typeof details === 'function' ? await details() : details;
      const result = await work();
      if (endSessions && subjectId !== undefined) await this.#sessions.endAll(subjectId);
      if (revokeApiKeys && subjectId !== undefined) await this.#keys.revokeAll(subjectId);
      const created = result && 'id' in result ? String(result.id) : undefined;
      await this.#audit.record({ action, details: told, subjectId: subjectId ?? created });
      return result;
    };
    return uninterrupted(() => this.#accounts.unitOfWork(run, { isolation: 'read-committed' }));
  }

  async #admit(subjectId: string | undefined): Promise<void> {
    const { userId = '', sessionId } = currentPrincipal() ?? {};
    if (sessionId === undefined) throw new ForbiddenException('Accounts are changed by a login at the service itself');
    const accounts = await this.#accounts.lock(userId, subjectId);
    if (accounts.get(userId)?.role !== 'admin') throw new ForbiddenException('Your role does not allow this');
    await this.#sessions.requireRecent({ userId, sessionId });
  }
}
