import type { DatabaseTarget } from '../client/database-url.ts';
import { unreachableReason } from '../client/unreachable-reason.ts';

/** Raised when migrations cannot be applied; the message says which, why, and what to do. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/** Says what an error of the schema engine, or of the connection under it, means for the migrations of a database. */
export async function migrationError(error: unknown, target: DatabaseTarget): Promise<MigrationError> {
  if (error instanceof MigrationError) return error;
  return new MigrationError(await messageFor(error, target), { cause: error });
}

/** Whether another process is migrating the database, so that trying again helps. PostgreSQL's lock gives up after 10 s. */
export function isLocked(error: unknown): boolean {
  return codeOf(error) === 'P1002' || codeOf(error) === 'SQLITE_BUSY';
}

async function messageFor(error: unknown, target: DatabaseTarget): Promise<string> {
  const { description } = target;
  const text = error instanceof Error ? error.message : String(error);
  if (isLocked(error)) {
    return `Another process has been migrating the database at ${description} for too long. Wait for it to end, then run "npm run db:migrate".`;
  }
  if (codeOf(error) === 'P3005') {
    return `The database at ${description} has tables, but no record of migrations. Where it already has what some of them make, run "npm run db:migrate -- --applied <name>" for each of those; else give DATABASE_URL an empty database.`;
  }
  // A note about a migration that does not fit the record says all by itself.
  if (['P3008', 'P3011', 'P3012'].includes(String(codeOf(error)))) return reasonOf(text).replace(/\.\.$/, '.');
  const earlier = /The `([^`]+)` migration started at (.+) failed/.exec(text);
  if (earlier)
    return `Migration ${earlier[1]} failed at ${earlier[2]}, and no other is applied before that is dealt with. ${remedy(target, earlier[1])}`;
  const name = /migration_name="([^"]+)"/.exec(text)?.[1];
  if (name) return `Migration ${name} failed: ${reasonOf(text)}. ${remedy(target, name)}`;
  const reason = (await unreachableReason(target, error)) ?? reasonOf(text);
  return `The database at ${description} cannot be migrated: ${reason}. Check DATABASE_URL and that the database runs.`;
}

function remedy({ provider }: DatabaseTarget, name: string | undefined): string {
  const file = `prisma/migrations/${provider}/${name}/migration.sql`;
  return provider === 'sqlite'
    ? `Nothing was changed. Correct ${file}, then run "npm run db:migrate".`
    : `What it had done was undone, unless its file commits by itself. Correct ${file}, then run "npm run db:migrate -- --rolled-back ${name}".`;
}

/** The engine's own words, without where in its source it said them. */
function reasonOf(text: string): string {
  const said = text.split(/\n\s*0: /)[0] ?? '';
  return said
    .replace(/^external connector error\s*/, '')
    .replace(/^Error querying the database: /, '')
    .trim()
    .replace(/\s+/g, ' ');
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
