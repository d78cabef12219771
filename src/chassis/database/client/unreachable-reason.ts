import { connect } from 'node:net';
import { cannotBeReached, classifyDatabaseError } from './classify-database-error.ts';
import type { DatabaseTarget } from './database-url.ts';

const limitMs = 1000;

/** What a system code means, given where the server was looked for. */
const meanings: Record<string, (host: string, port: number) => string> = {
  ECONNREFUSED: (host, port) => `connection refused at ${place(host, port)}`,
  ENOENT: (host, port) => `there is no socket ${place(host, port)}`,
  ENOTFOUND: (host) => `the host name "${host}" is not known`,
  EAI_AGAIN: (host) => `the host name "${host}" cannot be looked up at this moment`,
  EHOSTUNREACH: (host) => `there is no route to the host ${host}`,
  ENETUNREACH: (host) => `there is no route to the network of ${host}`,
};

/**
 * Says why a database is unavailable. Where the ORM's adapter tells only that PostgreSQL cannot be reached, opens one
 * connection to it and closes it again, within a second, to find out more. For failures at start and of commands only.
 *
 * @returns undefined when the error has no better word than its own
 */
export async function unreachableReason(target: DatabaseTarget, error: unknown): Promise<string | undefined> {
  const known = classifyDatabaseError(error)?.reason;
  if (known !== cannotBeReached || target.provider === 'sqlite') return known;
  return (await connectionProblem(target.connectionString)) ?? known;
}

/** The driver reads the URL, because its variables (PGHOST) and defaults count too; it is loaded for PostgreSQL only. */
async function connectionProblem(connectionString: string): Promise<string | undefined> {
  const { Client } = await import('pg');
  const { host, port } = new Client({ connectionString });
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const socket = host.startsWith('/') ? connect(place(host, port)) : connect(port, host);
  socket.setTimeout(limitMs, () => {
    resolve(`no answer from ${place(host, port)} within ${limitMs} ms`);
    socket.destroy();
  });
  socket.on('connect', () => {
    resolve(undefined);
    socket.destroy();
  });
  socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(meanings[code ?? '']?.(host, port)));
  return promise;
}

function place(host: string, port: number): string {
  if (host.startsWith('/')) return `${host}/.s.PGSQL.${port}`;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
