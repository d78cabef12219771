import { Repository } from '../../chassis/index.ts';

/** The audit trail. It refers to users by their identifiers only, so it outlives them. */
export class AuditEventRepository extends Repository<'auditEvent'> {
  protected readonly model = 'auditEvent';
}
