import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { clientKey } from '../context/request-context.ts';
import { ConnectionCutError } from '../http/answers/abandoned-answer.ts';
import type { TrustProxy } from '../http/pipeline/request-context-of.ts';
import type { CutReason } from '../telemetry/metrics/connection-metrics.ts';
import type { ClientShares } from './client-shares.ts';
import { readClientOf } from './read-socket.ts';

/** What a connection costs its client, as `receivingCost` is reckoned: to accept and to close it takes as long as to receive a request. */
const openingCost = 12;
/** The same for bytes on it that are no request: they are read, logged and answered. */
const malformedCost = 12;
/** And for one that is cut: most of what was read of it in that turn has been parsed by then, which takes as long as a page does. */
const cutCost = 60;

/**
 * Charges clients for what their connections cost beside requests, of which the gate knows. Otherwise who keeps the process
 * busy with connections that bring no request, or one that is cut, has used little, and others are taken for heavy beside it.
 * What a proxy brings is of many clients, and charged to none but for a request that is cut.
 */
export function chargeConnections(server: Server, shares: Pick<ClientShares, 'charge'>, isTrusted: TrustProxy): void {
  function charge(client: string, cost: number): void {
    shares.charge(client, cost, performance.now());
  }

  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined) return;
    // A closed connection does not know its address any more.
    const own = isTrusted(remoteAddress, 0) ? undefined : clientKey(remoteAddress);
    if (own !== undefined) charge(own, openingCost);
    socket.once('close', () => {
      const cutFor = reasonOfCut(socket);
      // Pipelined requests on a connection of a proxy may be of several clients, and a body is of one.
      const client = own ?? (cutFor === 'chunks' ? readClientOf(socket) : undefined);
      if (client !== undefined && (cutFor === 'chunks' || cutFor === 'pipelined')) charge(client, cutCost);
    });
  });
  server.on('clientError', ({ code }: NodeJS.ErrnoException, { remoteAddress }: Socket) => {
    // Connections that fail or are cut come here too.
    if (!code?.startsWith('HPE_')) return;
    if (remoteAddress !== undefined && !isTrusted(remoteAddress, 0)) charge(clientKey(remoteAddress), malformedCost);
  });
}

/** Undefined where a connection was not cut. */
function reasonOfCut({ errored }: Socket): CutReason | undefined {
  return errored instanceof ConnectionCutError ? errored.reason : undefined;
}
