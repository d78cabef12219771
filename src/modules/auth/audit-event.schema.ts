import { listPolicy, z } from 'slipway';

/** One action on an account: what, when, from where and who did it. */
export const auditEvent = z
  .object({
    id: z.uuid(),
    action: z.string().describe('What was done, such as login.failed or password.changed'),
    actorId: z.uuid().nullable().describe('The user who did it; null when nobody was logged in'),
    subjectId: z.uuid().nullable().describe('The user whose account it concerns; null when there is none'),
    details: z.string().nullable().describe('What changed'),
    ipAddress: z.string().nullable(),
    userAgent: z.string().nullable(),
    requestId: z.string().nullable().describe('Of the request, as in the log'),
    createdAt: z.date(),
  })
  .meta({ id: 'AuditEvent' });

/** What administrators may ask of the audit trail. */
export const auditEventList = listPolicy('AuditEvent', {
  record: auditEvent,
  filter: {
    action: ['equals', 'in'],
    actorId: ['equals', 'in'],
    subjectId: ['equals', 'in'],
    ipAddress: ['equals'],
    requestId: ['equals'],
    createdAt: ['gte', 'lte'],
  },
  sort: ['createdAt'],
});
