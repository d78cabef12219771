/**
 * Brings the database of DATABASE_URL up to date: `npm run db:migrate`. With `-- --create NAME` it writes a new migration
 * for both databases instead, from the changes in prisma/models.prisma; with `-- --rolled-back NAME` it notes that a
 * migration that failed on PostgreSQL was undone, so that it can be applied again.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { readEnvironment, withEnvFile } from '../src/chassis/config/environment.ts';
import { hasDatabase } from '../src/chassis/config/settings/database-url-problem.ts';
import { applyMigrations, markRolledBack } from '../src/chassis/database/migrations/apply-migrations.ts';
import { installJobs } from '../src/chassis/jobs/install-jobs.ts';
import { endWithMessage } from './end-with-message.ts';

/** What this program does with its arguments; the service's command `migrate` calls it. */
export async function main(args?: string[]): Promise<void> {
  const options = { create: { type: 'string' }, 'rolled-back': { type: 'string' } } as const;
  const { values } = parseArgs({ options, ...(args && { args }) });
  if (values.create !== undefined) return create(values.create);
  const settings = readEnvironment({}, withEnvFile(process.env), 'command');
  if (!hasDatabase(settings.DATABASE_URL)) return console.log('There is no database: DATABASE_URL is none.');
  const undone = values['rolled-back'];
  if (undone !== undefined) await markRolledBack(settings, undone);
  const applied = await applyMigrations(settings);
  await installJobs(settings);
  console.log(applied.length > 0 ? `Applied: ${applied.join(', ')}` : 'The database is up to date.');
}

async function create(name: string): Promise<void> {
  const { createMigration } = await import('../src/chassis/database/migrations/create-migration.ts');
  const files = await createMigration(name);
  console.log(
    files.length > 0
      ? `Written, to be read before it is applied:\n${files.join('\n')}\n` +
          'Changed to the models that it leads to, to be committed with it:\nprisma/migrations/models.prisma'
      : 'The models have not changed.',
  );
}

if (import.meta.main) await main().catch(endWithMessage);
