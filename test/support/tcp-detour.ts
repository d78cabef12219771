import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { whenDone } from '../../src/chassis/testing/when-done.ts';

/** A port that leads to a server, until it is told to lead elsewhere or nowhere. */
export interface TcpDetour {
  readonly port: number;
  /** New connections lead to this port from now on. */
  lead(to: number): void;
  /** What the server says is held back, and connections are accepted without an answer; nobody is told. */
  hold(): void;
  /** What was held back goes on. */
  release(): void;
}

/** Starts one, until the end of the test or of the file. */
export async function startTcpDetour(port: number): Promise<TcpDetour> {
  const sockets = new Set<Socket>();
  let target = port;
  let held = false;
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(socket);
          other.destroy();
        });
    }
    client.pipe(upstream);
    upstream.on('data', (chunk) => client.write(chunk));
    if (held) upstream.pause();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  whenDone(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  const all = (change: 'pause' | 'resume') => {
    held = change === 'pause';
    for (const socket of sockets) socket[change]();
  };
  return {
    port: (server.address() as AddressInfo).port,
    lead: (to) => {
      target = to;
    },
    hold: () => all('pause'),
    release: () => all('resume'),
  };
}
