import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StartUpError } from './start-up-error.ts';

const closeTimeoutMs = 10_000;

/** Where a server listens. */
export interface ListenAddress {
  host: string;
  port: number;
  url: string;
}

/** Listens and answers with the real address. Raises StartUpError when the address cannot be taken. */
export async function listen(server: Server, { host, port }: { host: string; port: number }): Promise<ListenAddress> {
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new StartUpError(
      `Expected to listen on ${host}:${port}, found ${code === 'EADDRINUSE' ? 'another process there' : code}; ` +
        'stop it or set PORT and HOST to a free address.',
      { cause },
    );
  }
  const bound = (server.address() as AddressInfo).port;
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return { host, port: bound, url: `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${bound}` };
}

/** Stops accepting and waits for requests in flight; connections still open after ten seconds are cut. */
export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve, reject) => server.close((error) => (error ? reject(error) : resolve())));
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const cut = setTimeout(() => server.closeAllConnections(), closeTimeoutMs);
  try {
    server.closeIdleConnections();
    await closed;
  } finally {
    clearInterval(idle);
    clearTimeout(cut);
  }
}
