import { afterCommit, currentPrincipal, getRequestContext, ResourceService } from 'slipway';
import type { AuditEventRepository } from './audit-event.repository.ts';
import type { AuditEntry } from './auth.types.ts';

type Dependencies = { repository: AuditEventRepository } & Pick<Slipway.Cradle, 'settings'>;

const day = 24 * 60 * 60 * 1000;
/** After how many events those that are too old are looked for; the first is one of them. */
const eventsPerRemoval = 100;
/** How many a removal takes, so that none holds the database for long and all together keep up with what is added. */
const mostRemoved = 1_000;

/** The audit trail of accounts and sessions, which keeps what is younger than AUTH_AUDIT_DAYS. */
export class AuditEventService extends ResourceService<AuditEventRepository> {
  readonly #keptMs: number;
  #recorded = 0;

  constructor({ repository, settings }: Dependencies) {
    super({ repository });
    this.#keptMs = settings.AUTH_AUDIT_DAYS * day;
  }

  /** Stores what was done. Inside of a unit of work it is stored with the change, or not at all. */
  async record({ action, actorId, subjectId, details }: AuditEntry): Promise<void> {
    const context = getRequestContext();
    await this.repository.create({
      action,
      actorId: actorId ?? currentPrincipal()?.userId ?? null,
      subjectId: subjectId ?? null,
      details: details ?? null,
      ipAddress: context?.ipAddress ?? null,
      userAgent: context?.userAgent?.slice(0, 300) ?? null,
      requestId: context?.requestId ?? null,
    });
    if (this.#recorded++ % eventsPerRemoval === 0) afterCommit(() => this.#removeOld());
  }

  async #removeOld(): Promise<void> {
    if (this.#keptMs > 0) await this.repository.removeOlder(new Date(Date.now() - this.#keptMs), mostRemoved);
  }
}
