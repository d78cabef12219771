import { connect } from 'node:net';
import { Client } from 'pg';

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
 * Says why a PostgreSQL server could not be reached, which the ORM's adapter does not tell: opens one connection to it
 * and closes it again, within a second. For failures at start only.
 *
 * @param connectionString a URL as the driver takes it; its variables (PGHOST) and defaults count too
 * @returns undefined when the server takes the connection, or fails in a way without a better word
 */
export function unreachableReason(connectionString: string): Promise<string | undefined> {
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
