import type { Socket } from 'node:net';
import { ConnectionCutError } from '../http/answers/abandoned-answer.ts';
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

/** What Node keeps of a connection; the tests of this file, pipelined-requests.test.ts and bounded-request.test.ts hold it to this. */
type CutSocket = Socket & { parser?: { remove(): void } | null; resetAndClosing?: boolean };

/** Cuts a connection, with what is still to be parsed of it, and tells why. */
export type CutConnection = (socket: Socket, reason: CutReason) => void;

/** Where cut connections are logged and counted. */
interface CutWatch {
  logger: Logger;
  metrics: Pick<ConnectionMetrics, 'cut'>;
}

/** What cuts the connections of a server: it counts them by their reason, and for each reason logs one line for all cuts within ten seconds. */
export function connectionCutter({ logger, metrics }: CutWatch): CutConnection {
  const untold = new Map<CutReason, { cut: number; toldAt: number }>();
  return (socket: CutSocket, reason) => {
    metrics.cut(reason);
    const now = performance.now();
    const { cut, toldAt } = untold.get(reason) ?? { cut: 0, toldAt: Number.NEGATIVE_INFINITY };
    const tells = now - toldAt >= remindMs;
    if (tells) {
      const { remoteAddress: ipAddress, writableLength: bytes } = socket;
      logger.warn({ cut: cut + 1, reason, ipAddress, bytes }, messages[reason]);
    }
    untold.set(reason, tells ? { cut: 0, toldAt: now } : { cut: cut + 1, toldAt });
    // A close leaves up to 4 MB of an unread answer with the kernel, for minutes, also where nothing of it is left here.
    // `resetAndDestroy` takes no error.
    if (socket.writableLength > 0 || reason === 'memory') socket.resetAndClosing = true;
    // By the error a stream that is piped to it knows that the client is at fault.
    socket.destroy(new ConnectionCutError(reason));
    // Otherwise Node would go on with what it has read, which may be thousands of requests or chunks.
    socket.parser?.remove();
  };
}
