import { DatabaseError, type Pool } from 'pg';
import type { ConstructorOptions, Db } from 'pg-boss';
import { type DatabaseTarget, parseDatabaseUrl } from '../database/client/database-url.ts';

type PostgresTarget = Extract<DatabaseTarget, { provider: 'postgresql' }>;

/** Longest name of a schema that pg-boss takes. */
const longestSchema = 50;

/** What a DATABASE_URL of PostgreSQL says. @throws Error for one of another database */
export function postgresTarget(url: string): PostgresTarget {
  const target = parseDatabaseUrl(url);
  if (target.provider === 'postgresql') return target;
  throw new Error(`Expected a PostgreSQL URL, found one of ${target.provider}.`);
}

/**
 * Where pg-boss keeps its tables: in a schema of their own beside that of the service, so that no table of a module can
 * have the name of one of them.
 */
function jobsSchema({ schema }: PostgresTarget): string {
  if (schema === undefined) return 'pgboss';
  const name = `${schema}_jobs`;
  if (Buffer.byteLength(name) <= longestSchema) return `"${name}"`;
  throw new Error(
    `Expected ?schema= in DATABASE_URL to have at most ${longestSchema - 5} characters, found "${schema}".`,
  );
}

/** What every instance of pg-boss is made with: it does nothing by itself that it is not told to. */
export function bossOptions(pool: Pool, target: PostgresTarget): ConstructorOptions {
  return {
    db: onPool(pool),
    schema: jobsSchema(target),
    migrate: false,
    supervise: false,
    schedule: false,
    registerInstance: false,
    reindex: false,
    monitorVacuum: false,
  };
}

/**
 * Since when the oldest job of each queue in `$1` waits: pg-boss has the number too, but only where it records its history.
 * `test/chassis/jobs/job-store.test.ts` fails when its table is another.
 */
export function oldestDueSql(target: PostgresTarget): string {
  return `SELECT name, min(greatest(created_on, start_after)) AS due FROM ${jobsSchema(target)}.job
    WHERE name = ANY($1) AND state IN ('created', 'retry') AND NOT blocked AND start_after <= now() GROUP BY name`;
}

/**
 * Has pg-boss use connections of a pool. One on which a statement got no answer is closed, because the next would wait behind
 * it for ever; so is one of a script that failed half-way, which would leave its transaction open.
 */
function onPool(pool: Pool): Db {
  return {
    async executeSql(text, values) {
      const client = await pool.connect();
      let isLost = false;
      try {
        const result = await client.query(text, values);
        // A script has a result for each of its statements, and its reader looks for rows in all of them.
        return Array.isArray(result) ? { rows: result.flatMap(({ rows }) => rows) } : result;
      } catch (error) {
        isLost = !(error instanceof DatabaseError) || /^\s*BEGIN\b/i.test(text);
        throw error;
      } finally {
        client.release(isLost);
      }
    },
  };
}
