import { Repository } from 'slipway';

/** The audit trail. It refers to users by their identifiers only, so it outlives them. */
export class AuditEventRepository extends Repository<'auditEvent'> {
  protected readonly model = 'auditEvent';

  /** Removes events of before a moment, `atMost` of them. */
  async removeOlder(before: Date, atMost: number): Promise<void> {
    await this.orm.auditEvent.deleteMany({ where: { createdAt: { lt: before } }, limit: atMost });
  }
}
