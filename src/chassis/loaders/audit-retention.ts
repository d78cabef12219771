import { withoutScopes } from '../context/run-as.ts';
import { databaseKindOf } from '../database/client/database-kind.ts';
import { parseDatabaseUrl } from '../database/client/database-url.ts';
import { delegateOf, modelNameOf } from '../database/models/delegate-of.ts';
import { removeInBatches } from '../database/work/remove-in-batches.ts';
import { every, type JobRun } from '../jobs/define-jobs.ts';
import type { FoundJob } from '../jobs/job-plan.ts';
import type { Service } from '../service.ts';

const day = 24 * 60 * 60 * 1000;

/**
 * The job that removes what is older than AUDIT_TRAIL_DAYS from the audit trails of repositories, each hour. None where no
 * repository declares `audit`, with 0 days, and on a database that takes no writes. A trail without an index that begins
 * with `createdAt` is kept whole, and the log says so.
 */
export function auditRetention({ database, logger, settings }: Service): FoundJob[] {
  const { AUDIT_TRAIL_DAYS: days, DATABASE_URL: url } = settings;
  if (days === 0 || !database.isOpen || !parseDatabaseUrl(url).writable) return [];
  const { client } = database;
  const { dataModel, rules } = databaseKindOf(client);
  const hasIndex = (trail: string) => {
    const { indexes = [] } = dataModel.models[modelNameOf(trail)] ?? {};
    return indexes.some(([first]) => first === 'createdAt');
  };
  const trails = [...rules.trails].filter(hasIndex);
  const kept = [...rules.trails].filter((trail) => !hasIndex(trail));
  if (kept.length > 0) logger.warn({ models: kept }, 'audit trail kept for ever: @@index([createdAt]) missing');
  if (trails.length === 0) return [];
  const removeOld = async ({ signal }: JobRun) => {
    const where = { createdAt: { lt: new Date(Date.now() - days * day) } };
    for (const trail of trails) {
      const removed = await withoutScopes('retention of the audit trail', () =>
        removeInBatches(delegateOf(client, trail), where, signal),
      );
      if (removed > 0) logger.info({ trail, removed, days }, 'old audit trail removed');
    }
  };
  // Nothing of it is stored, so that a service needs no tables of jobs for it; replicas come one after the other.
  const definition = every('1h', 'remove-old-audit-trail', removeOld, { replicas: 'each', jitter: '30m' });
  return [{ module: 'chassis', from: 'chassis', definition }];
}
