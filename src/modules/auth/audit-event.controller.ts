import { ResourceController } from 'slipway';
import { auditEvent, auditEventList, createAuditEvent, updateAuditEvent } from './audit-event.schema.ts';
import type { AuditEventService } from './audit-event.service.ts';

/** The routes of the audit trail, which only reads. */
export class AuditEventController extends ResourceController<AuditEventService> {
  readonly schemas = { record: auditEvent, create: createAuditEvent, update: updateAuditEvent, list: auditEventList };
}
