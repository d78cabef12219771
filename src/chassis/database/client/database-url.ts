import { isAbsolute, resolve } from 'node:path';
import { databaseUrlProblem, hasDatabase } from '../../config/settings/database-url-problem.ts';

/** Names of the databases that a service can run on. */
export type DatabaseProvider = 'postgresql' | 'sqlite';

/** Where a PostgreSQL listens. */
export interface DatabaseServer {
  readonly address: string;
  readonly port: number;
}

/** What `DATABASE_URL` says, taken apart. */
export type DatabaseTarget =
  | {
      readonly provider: 'postgresql';
      /** The URL without the parameters that are Prisma's own, as the driver takes it. */
      readonly connectionString: string;
      /** The PostgreSQL schema of the tables; undefined leaves it to the server, which means `public`. */
      readonly schema: string | undefined;
      /** True behind a pgbouncer in transaction mode, where prepared statements cannot be named. */
      readonly pgbouncer: boolean;
      /** False where `target_session_attrs` says that a server which only reads will do. */
      readonly writable: boolean;
      /** Host, port and database, safe to show. */
      readonly description: string;
      /** Where it is, for spans. */
      readonly server: DatabaseServer;
    }
  | {
      readonly provider: 'sqlite';
      /** Absolute path of the database file. */
      readonly path: string;
      readonly writable: true;
      readonly description: string;
    };

const expected =
  'DATABASE_URL must be "postgresql://user:password@host:5432/database" (also postgres://, ?schema=name) or "file:./data/slipway.db"';

/** What the driver would not understand. */
const ownParameters = ['schema', 'pgbouncer', 'connection_limit', 'pool_timeout', 'target_session_attrs'];

/**
 * Reads a `DATABASE_URL`: a PostgreSQL URL or a `file:` path for SQLite, relative to the working directory
 * (spec.md: Loaders, connectOrm).
 *
 * @throws Error when the URL has another form; the message names the form expected and never repeats a password
 */
export function parseDatabaseUrl(url: string): DatabaseTarget {
  if (!hasDatabase(url)) throw new Error('Expected a database, found DATABASE_URL=none. Change DATABASE_URL.');
  const scheme = /^([a-z][a-z\d+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  if (scheme === 'file') return sqliteTarget(url);
  if (scheme === 'postgresql' || scheme === 'postgres') return postgresTarget(url);
  throw new Error(
    `${expected}; got ${scheme ? `the scheme "${scheme}:"` : 'a text without a scheme'}. Change DATABASE_URL.`,
  );
}

function sqliteTarget(url: string): DatabaseTarget {
  const written = decodeURIComponent(
    url
      .slice('file:'.length)
      .replace(/[?#].*$/s, '')
      .replace(/^\/\/(?=\/)/, ''),
  );
  if (written === '' || written === ':memory:' || written.startsWith('//')) {
    throw new Error(
      `${expected}; got "${url}", which names no file on this machine. Put the path of a file after "file:".`,
    );
  }
  const path = isAbsolute(written) ? written : resolve(written);
  return { provider: 'sqlite', path, writable: true, description: path };
}

function postgresTarget(text: string): DatabaseTarget {
  const problem = databaseUrlProblem(text);
  if (problem !== undefined) throw new Error(`${expected}: ${problem}.`);
  const url = new URL(text);
  const schema = url.searchParams.get('schema') ?? undefined;
  const pgbouncer = url.searchParams.get('pgbouncer') === 'true';
  const session = url.searchParams.get('target_session_attrs') ?? 'read-write';
  for (const name of ownParameters) url.searchParams.delete(name);
  return {
    provider: 'postgresql',
    connectionString: url.href,
    schema: schema === '' ? undefined : schema,
    pgbouncer,
    writable: session === 'read-write' || session === 'primary',
    description: `${url.host}${url.pathname}`,
    server: { address: url.hostname, port: Number(url.port || 5432) },
  };
}
