import { PrismaPg } from '@prisma/adapter-pg';
import type { ClientBase, Pool, PoolConfig } from 'pg';
import { CancellingPool } from './cancelling-pool.ts';
import type { DatabaseTarget } from './database-url.ts';
import type { RequestQueue } from './request-queue.ts';

type PostgresTarget = Extract<DatabaseTarget, { provider: 'postgresql' }>;

const inUtc = "SET TimeZone TO 'UTC'";

/** Most statements that one process names; further ones are parsed anew by the server at each call. */
const namedStatementsLimit = 1000;

/** An adapter for PostgreSQL and the pool of connections behind it. */
export interface PostgresConnection {
  readonly adapter: PrismaPg;
  readonly pool: Pool;
  /** Who waits for one of them. */
  readonly requests: RequestQueue;
}

/**
 * The driver adapter for PostgreSQL on a pool of its own; closing the client ends the pool. Opens no connection yet.
 * Sessions run in UTC, whatever the server's zone is: the adapter writes moments without a zone and ignores the one that
 * it reads.
 */
export function connectPostgresql(target: PostgresTarget, limits: PoolConfig): PostgresConnection {
  const options = [!target.pgbouncer && '-c TimeZone=UTC', target.schema && `-c search_path="${target.schema}"`]
    .filter(Boolean)
    .join(' ');
  const pool = new CancellingPool({
    connectionString: target.connectionString,
    application_name: 'slipway',
    keepAlive: true,
    ...limits,
    ...(options !== '' && { options }),
    // A pooler of transactions takes no options of a session; it remembers the zone for its clients.
    ...(target.pgbouncer && { onConnect: async (client: ClientBase) => void (await client.query(inUtc)) }),
  });
  // A connection that breaks while it is lent tells its query and, as an event that ends the process unheard, everybody.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const adapter = new PrismaPg(pool, {
    disposeExternalPool: true,
    ...(target.schema && { schema: target.schema }),
    ...(!target.pgbouncer && { statementNameGenerator: statementNames() }),
  });
  return { adapter, pool, requests: pool.requests };
}

/** Names statements, so that the server parses and plans each once per connection; '' leaves one without a name. */
function statementNames(): (query: { sql: string }) => string {
  const names = new Map<string, string>();
  return ({ sql }) => {
    const known = names.get(sql);
    if (known !== undefined) return known;
    if (names.size >= namedStatementsLimit) return '';
    const name = `s${names.size}`;
    names.set(sql, name);
    return name;
  };
}
