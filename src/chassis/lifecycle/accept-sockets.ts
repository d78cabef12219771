import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer, type Socket, type Server as SocketServer } from 'node:net';
import process from 'node:process';

/**
 * How many sockets share the port of a server. The event loop accepts one connection of each in a turn, in the order in
 * which they came: with one socket, a client whose requests make turns long and that opens hundreds of connections would
 * have new connections of all others wait for many seconds. Few are for a port behind proxies, where only a request tells whose
 * its connection is: what is accepted faster than it is answered would have all places, and each turn would last for a hundred of them.
 */
const acceptSockets = { many: 128, few: 16 } as const;

/** How many connections are accepted in each turn of the event loop. */
export type Accepting = keyof typeof acceptSockets;

/** Connections that the kernel queues for all of them together. */
const backlog = 16_384;

/** Whether several sockets of one process may listen on one port, and the kernel spreads connections over them. */
export const canShare = process.platform === 'linux';

/** What net.Server keeps of its connections; accept-sockets.test.ts holds it to that. */
type Counted<T> = T & { _connections: number; _server: unknown };

/** A port that several sockets share. */
interface SharedPort {
  host: string;
  port: number;
  accepts: Accepting;
}

/** Where each of the sockets listens, as `server.listen` takes it. */
export function listenOptions({ host, port, accepts }: SharedPort) {
  return { host, port, backlog: backlog / acceptSockets[accepts], reusePort: true };
}

/** Refuses a port that somebody listens on, perhaps another process of this service, which would get half of the connections. @throws as `server.listen` */
export async function expectFree(host: string, port: number): Promise<void> {
  const probe = createServer();
  await once(probe.listen(port, host), 'listening');
  await once(probe.close(), 'close');
}

/**
 * Opens the other sockets on the port that a server listens on; those that it accepts are connections of the server. They
 * are closed with it.
 */
export async function shareAccepting(server: Server, shared: SharedPort): Promise<void> {
  const others = Array.from({ length: acceptSockets[shared.accepts] - 1 }, () => acceptFor(server));
  const { close } = server;
  server.close = function closeAll(this: Server, ...done) {
    for (const other of others) other.close();
    return Reflect.apply(close, this, done);
  };
  await Promise.all(others.map((other) => once(other.listen(listenOptions(shared)), 'listening')));
}

function acceptFor(server: Server): SocketServer {
  // As http.Server has it.
  const other = createServer({ allowHalfOpen: true, noDelay: true });
  return other.on('connection', (socket: Socket) => {
    (socket as Counted<Socket>)._server = server;
    (other as Counted<SocketServer>)._connections -= 1;
    (server as Counted<Server>)._connections += 1;
    server.emit('connection', socket);
  });
}
