import { parseArgs } from 'node:util';
import { readEnvironment, type Variables } from '../../config/environment.ts';
import { hasDatabase } from '../../config/settings/database-url-problem.ts';
import { applyMigrations } from '../../database/migrations/apply-migrations.ts';
import { createMigration } from '../../database/migrations/create-migration.ts';
import { markApplied, markRolledBack } from '../../database/migrations/mark-migration.ts';
import { installJobs } from '../../jobs/install-jobs.ts';

/**
 * Brings the database of DATABASE_URL up to date. `--create NAME` writes a new migration for each database instead, from
 * the changes in prisma/models.prisma; `--rolled-back NAME` notes that a migration that failed on PostgreSQL was undone,
 * so that it can be applied again, `--applied NAME` that the database has what a migration makes, so that it is not run.
 *
 * @throws Error with what is wrong, MigrationError where a migration cannot be applied
 */
export async function migrate(args: string[], env: Variables): Promise<void> {
  const options = {
    create: { type: 'string' },
    applied: { type: 'string', multiple: true },
    'rolled-back': { type: 'string' },
  } as const;
  const { values } = parseArgs({ options, args });
  if (values.create !== undefined) return create(values.create);
  const settings = readEnvironment({}, env, 'command');
  if (!hasDatabase(settings.DATABASE_URL)) return console.log('There is no database: DATABASE_URL is none.');
  for (const name of values.applied ?? []) await markApplied(settings, name);
  const undone = values['rolled-back'];
  if (undone !== undefined) await markRolledBack(settings, undone);
  const applied = await applyMigrations(settings);
  await installJobs(settings);
  console.log(applied.length > 0 ? `Applied: ${applied.join(', ')}` : 'The database is up to date.');
}

async function create(name: string): Promise<void> {
  const files = await createMigration(name);
  console.log(
    files.length > 0
      ? `Written, to be read before it is applied:\n${files.join('\n')}\n` +
          'Changed to the models that it leads to, to be committed with it:\nprisma/migrations/models.prisma'
      : 'The models have not changed.',
  );
}
