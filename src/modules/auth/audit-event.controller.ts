import { ResourceController } from 'slipway';
import { auditEvent, auditEventList } from './audit-event.schema.ts';
import type { AuditEventService } from './audit-event.service.ts';

/** The routes of the audit trail, which only reads. */
export class AuditEventController extends ResourceController<AuditEventService> {
  readonly schemas = { record: auditEvent, list: auditEventList };
}
