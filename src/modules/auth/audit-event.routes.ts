import { defineRoutes, resourceRouter } from 'slipway';

/**
 * @openapi
 * /audit-events: { x-resource: AuditEvent }
 */
export default defineRoutes(({ auditEventController, auth }) =>
  resourceRouter('/audit-events', auditEventController, { read: auth.role('admin') }),
);
