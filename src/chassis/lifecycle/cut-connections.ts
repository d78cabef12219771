import type { Socket } from 'node:net';
import type { Logger } from '../telemetry/logger.ts';
import type { ConnectionMetrics, CutReason } from '../telemetry/metrics/connection-metrics.ts';

const remindMs = 10_000;

const messages: Readonly<Record<CutReason, string>> = {
  stalled: 'connections cut: clients not reading',
  budget: 'connections cut: clients not reading',
  pipelined: 'connections cut: too many pipelined requests',
  chunks: 'connections cut: request bodies in too many small chunks',
  displaced: 'connections cut: too many are open',
  memory: 'connections cut: memory short',
};

/** Node's parser of a connection; pipelined-requests.test.ts and bounded-request.test.ts hold it to this. */
type ParsedSocket = Socket & { parser?: { remove(): void } | null };

/** Where cut connections are logged and counted. */
export interface CutWatch {
  logger: Logger;
  metrics: Pick<ConnectionMetrics, 'cut'>;
}

/** Cuts a connection, with what is still to be parsed of it, and counts it by its reason; the log gets one line for all cuts within ten seconds. */
export function connectionCutter({ logger, metrics }: CutWatch): (socket: Socket, reason: CutReason) => void {
  let count = 0;
  let remindedAt = Number.NEGATIVE_INFINITY;
  return (socket: ParsedSocket, reason) => {
    metrics.cut(reason);
    count += 1;
    const now = performance.now();
    if (now - remindedAt >= remindMs) {
      const { remoteAddress: ipAddress, writableLength: bytes } = socket;
      logger.warn({ cut: count, reason, ipAddress, bytes }, messages[reason]);
      remindedAt = now;
      count = 0;
    }
    // By the error a stream that is piped to it knows that the client is at fault.
    socket.destroy(new Error(`The connection was cut (${reason})`));
    // Otherwise Node would go on with what it has read, which may be thousands of requests or chunks.
    socket.parser?.remove();
  };
}
