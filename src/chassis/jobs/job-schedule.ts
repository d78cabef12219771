import { createHash } from 'node:crypto';

/** When a job is due by the clock. */
export interface JobSchedule {
  /** The first moment after `after`, in milliseconds since 1970; undefined where there is none. */
  next(after: number): number | undefined;
}

/**
 * Every `intervalMs`, at the same moments in all replicas. Jobs of the same interval are due at different moments, which
 * their names decide, so that they do not all begin together.
 */
export function intervalSchedule(name: string, intervalMs: number): JobSchedule {
  const phase = createHash('sha256').update(name).digest().readUInt32BE() % intervalMs;
  return { next: (after) => (Math.floor((after - phase) / intervalMs) + 1) * intervalMs + phase };
}

/**
 * At the times that a cron expression names in a time zone.
 *
 * @throws Error for an expression or a zone that is none
 */
export async function cronSchedule(expression: string, timeZone = 'UTC'): Promise<JobSchedule> {
  const { CronExpressionParser } = await import('cron-parser');
  const fields = expression.trim().split(/\s+/).length;
  if (fields !== 5 && fields !== 6) throw new Error(`expected 5 or 6 fields, found ${fields}`);
  Intl.DateTimeFormat('en', { timeZone });
  const next = (after: number) => {
    const times = CronExpressionParser.parse(expression, { currentDate: new Date(after), tz: timeZone });
    return times.hasNext() ? times.next().getTime() : undefined;
  };
  next(0);
  return { next };
}

/** The id of the run that is due at a moment: the same in all replicas, so that it is stored once. */
export function slotId(name: string, due: number): string {
  const digits = createHash('sha256').update(`${name} ${due}`).digest('hex');
  // Shaped as a UUID of version 8, which is for ids of one's own (RFC 9562).
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}
