import { getRequestContext, ResourceService } from '../../chassis/index.ts';
import type { AuditEventRepository } from './audit-event.repository.ts';
import type { AuditEntry } from './auth.types.ts';

/** The audit trail of accounts and sessions. */
export class AuditEventService extends ResourceService<AuditEventRepository> {
  /** Stores what was done. Inside of a unit of work it is stored with the change, or not at all. */
  async record({ action, actorId, subjectId, details }: AuditEntry): Promise<void> {
    const context = getRequestContext();
    await this.repository.create({
      action,
      actorId: actorId ?? context?.userId ?? null,
      subjectId: subjectId ?? null,
      details: details ?? null,
      ipAddress: context?.ipAddress ?? null,
      userAgent: context?.userAgent?.slice(0, 300) ?? null,
      requestId: context?.requestId ?? null,
    });
  }
}
