import { PrismaPg } from '@prisma/adapter-pg';
import { Pool, type PoolConfig } from 'pg';
import type { DatabaseTarget } from './database-url.ts';

type PostgresTarget = Extract<DatabaseTarget, { provider: 'postgresql' }>;

/** Most statements that one process names; further ones are parsed anew by the server at each call. */
const namedStatementsLimit = 1000;

/** An adapter for PostgreSQL and the pool of connections behind it. */
export interface PostgresConnection {
  readonly adapter: PrismaPg;
  readonly pool: Pool;
}

/** The driver adapter for PostgreSQL on a pool of its own; closing the client ends the pool. Opens no connection yet. */
export function connectPostgresql(target: PostgresTarget, limits: PoolConfig): PostgresConnection {
  const pool = new Pool({
    connectionString: target.connectionString,
    application_name: 'slipway',
    keepAlive: true,
    ...(target.schema && { options: `-c search_path="${target.schema}"` }),
    ...limits,
  });
  const adapter = new PrismaPg(pool, {
    disposeExternalPool: true,
    ...(target.schema && { schema: target.schema }),
    ...(!target.pgbouncer && { statementNameGenerator: statementNames() }),
  });
  return { adapter, pool };
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
