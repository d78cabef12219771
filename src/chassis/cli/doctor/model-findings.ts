import { modelsLackMigration } from '../../database/migrations/migration-files.ts';
import { areClientsFresh } from '../generate-clients.ts';

/** What the doctor looked at, and found. */
export interface Finding {
  readonly what: string;
  readonly found: string;
  /** How to mend it; undefined where it is well. */
  readonly mend?: string;
}

/** Whether clients and migrations fit the models. */
export function modelFindings(): Finding[] {
  const fresh = areClientsFresh();
  const lacking = modelsLackMigration();
  return [
    {
      what: 'database clients',
      found: fresh ? 'newer than prisma/models.prisma' : 'missing, or older than prisma/models.prisma',
      ...(!fresh && { mend: 'Run: npx slipway generate' }),
    },
    {
      what: 'migrations',
      found: lacking ? 'prisma/models.prisma has changes that none makes' : 'lead to prisma/models.prisma',
      ...(lacking && { mend: 'Run: npx slipway migrate --create <name>' }),
    },
  ];
}
