import type { Environment } from '../../config/environment.ts';
import { hasDatabase } from '../../config/settings/database-url-problem.ts';
import { parseDatabaseUrl } from '../../database/client/database-url.ts';
import { openDatabase } from '../../database/client/orm.ts';
import { migrationNames } from '../../database/migrations/migration-files.ts';
import { pendingMigrations } from '../../database/migrations/pending-migrations.ts';
import type { Finding } from './model-findings.ts';

/** Whether the database answers and has all migrations. */
export async function databaseFinding(settings: Environment): Promise<Finding> {
  const what = 'database';
  if (!hasDatabase(settings.DATABASE_URL)) return { what, found: 'none, as DATABASE_URL says' };
  try {
    const open = await openDatabase(settings);
    try {
      const pending = await pendingMigrations(open, migrationNames(open.provider));
      const found = `${open.provider} at ${parseDatabaseUrl(settings.DATABASE_URL).description}`;
      const lacks = `Migrations not applied: ${pending.join(', ')}; run: npx slipway migrate`;
      return { what, found, ...(pending.length > 0 && { mend: lacks }) };
    } finally {
      await open.close();
    }
  } catch (error) {
    return { what, found: 'cannot be opened', mend: error instanceof Error ? error.message : String(error) };
  }
}
