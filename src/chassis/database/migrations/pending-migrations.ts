import { isMissingTable } from '../client/classify-database-error.ts';
import type { OpenOrm } from '../client/orm.ts';

/** Names of the migrations that a database has. */
export const appliedSql =
  'SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL';

/** Which of these migrations an open database lacks: one small read, cheap enough for a readiness check. */
export async function pendingMigrations(
  { client }: Pick<OpenOrm, 'client'>,
  names: readonly string[],
): Promise<string[]> {
  const bare = client as { $queryRawUnsafe(sql: string): Promise<{ migration_name: string }[]> };
  const rows = await emptyWithoutTable(() => bare.$queryRawUnsafe(appliedSql));
  return namesWithout(
    names,
    rows.map(({ migration_name }) => migration_name),
  );
}

/** The names that are not among those applied. */
export function namesWithout(names: readonly string[], applied: readonly string[]): string[] {
  const done = new Set(applied);
  return names.filter((name) => !done.has(name));
}

/** A database that was never migrated has no table of migrations. */
export async function emptyWithoutTable<T>(read: () => Promise<T[]>): Promise<T[]> {
  try {
    return await read();
  } catch (error) {
    if (isMissingTable(error)) return [];
    throw error;
  }
}
