import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Environment } from '../config/environment.ts';
import { clientKey } from '../context/request-context.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { ConnectionMetrics } from '../telemetry/metrics/connection-metrics.ts';
import { OpenSet } from './drain.ts';

const remindMs = 10_000;
const clientSymbol = Symbol('client that the connection counts for');

type CountedSocket = Socket & { [clientSymbol]?: string };

/** How many connections a server has at most. */
export type ConnectionLimits = Pick<Environment, 'HTTP_MAX_CONNECTIONS' | 'HTTP_MAX_CONNECTIONS_PER_ADDRESS'>;

/** Where a server reports its connections and their clients. */
export interface ConnectionWatch {
  logger: Logger;
  metrics: ConnectionMetrics;
  /** Whether an address is a proxy's, which brings the connections of many clients: only the total counts. */
  isProxy(address: string): boolean;
}

/**
 * Bounds the connections of a server, in total and from one address; IPv6 addresses of one /64 count as one. One beyond that is closed before anything is made
 * for it: each open connection costs memory, whether it is used or not.
 *
 * @returns the connections that are open
 */
export function limitConnections(
  server: Server,
  { HTTP_MAX_CONNECTIONS: total, HTTP_MAX_CONNECTIONS_PER_ADDRESS: perAddress }: ConnectionLimits,
  watch: ConnectionWatch,
): OpenSet<Socket> {
  const sockets = new OpenSet<Socket>();
  const byClient = new Map<string, number>();
  const refused = refusals(watch);

  function leave(this: CountedSocket): void {
    sockets.remove(this);
    const client = this[clientSymbol];
    if (client === undefined) return;
    const count = (byClient.get(client) ?? 1) - 1;
    if (count === 0) byClient.delete(client);
    else byClient.set(client, count);
  }

  // Before Node makes a parser for it.
  server.prependListener('connection', (socket: CountedSocket) => {
    const address = socket.remoteAddress ?? '';
    // Not by maxConnections, which each of the sockets that listen would have for itself.
    if (sockets.size >= total) {
      refused('total', address);
      socket.destroy();
      return;
    }
    if (!watch.isProxy(address)) {
      const client = clientKey(address);
      const count = (byClient.get(client) ?? 0) + 1;
      if (count > perAddress) {
        refused('address', address);
        socket.destroy();
        return;
      }
      byClient.set(client, count);
      socket[clientSymbol] = client;
    }
    sockets.add(socket);
    socket.on('close', leave);
  });
  watch.metrics.watch(() => sockets.size);
  return sockets;
}

/** Counts each refusal; the log has a line for all of ten seconds. */
function refusals({ logger, metrics }: ConnectionWatch) {
  let count = 0;
  let remindedAt = Number.NEGATIVE_INFINITY;
  return (limit: 'total' | 'address', ipAddress: string | undefined): void => {
    metrics.refused(limit);
    count += 1;
    const now = performance.now();
    if (now - remindedAt < remindMs) return;
    logger.warn({ refused: count, limit, ipAddress }, 'connections refused: too many are open');
    remindedAt = now;
    count = 0;
  };
}
