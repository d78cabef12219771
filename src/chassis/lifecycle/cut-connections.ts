import type { Socket } from 'node:net';
import { ConnectionCutError } from '../http/answers/abandoned-answer.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { ConnectionMetrics, CutReason } from '../telemetry/metrics/connection-metrics.ts';
import { throttledLine } from '../telemetry/throttled-line.ts';

const messages: Readonly<Record<CutReason, string>> = {
  stalled: 'connections cut: clients not reading',
  budget: 'connections cut: clients not reading',
  pipelined: 'connections cut: too many pipelined requests',
  chunks: 'connections cut: request bodies in too many small chunks',
  displaced: 'connections cut: too many are open',
  memory: 'connections cut: memory short',
};

const reasons = Object.keys(messages) as CutReason[];

/** What Node keeps of a connection; the tests of this file, pipelined-requests.test.ts and bounded-request.test.ts hold it to this. */
type CutSocket = Socket & { parser?: { remove(): void } | null; resetAndClosing?: boolean };

/** Cuts a connection, with what is still to be parsed of it, and tells why. */
export type CutConnection = (socket: Socket, reason: CutReason) => void;

/** Where cut connections are logged and counted. */
interface CutWatch {
  logger: Logger;
  metrics: Pick<ConnectionMetrics, 'cut'>;
}

/** What the log says of a connection that was cut: whose it was, and how much of its answer was unread. */
interface CutFacts {
  ipAddress: string | undefined;
  bytes: number;
}

type Tellers = Readonly<Record<CutReason, (last: CutFacts) => void>>;

/** What cuts the connections of a server: it counts them by their reason, and for each reason logs one line for all cuts within ten seconds. */
export function connectionCutter({ logger, metrics }: CutWatch): CutConnection {
  const teller = (reason: CutReason) =>
    throttledLine<CutFacts>((cut, last) => logger.warn({ cut, reason, ...last }, messages[reason]));
  const tell = Object.fromEntries(reasons.map((reason) => [reason, teller(reason)])) as Tellers;
  return (socket: CutSocket, reason) => {
    metrics.cut(reason);
    tell[reason]({ ipAddress: socket.remoteAddress, bytes: socket.writableLength });
    // A close leaves up to 4 MB of an unread answer with the kernel, for minutes, also where nothing of it is left here.
    // `resetAndDestroy` takes no error.
    if (socket.writableLength > 0 || reason === 'memory') socket.resetAndClosing = true;
    // By the error a stream that is piped to it knows that the client is at fault.
    socket.destroy(new ConnectionCutError(reason));
    // Otherwise Node would go on with what it has read, which may be thousands of requests or chunks.
    socket.parser?.remove();
  };
}
