import type { Socket } from 'node:net';
import type { ClientShares } from './client-shares.ts';

/**
 * What receiving each so many bytes of a request costs, in units of `chargeRequest`, whether somebody reads them or they are thrown
 * away; fewer are part of what every request costs.
 */
const chargedBytes = 65_536;
const costOfBytes = 3;

const countedKey = Symbol('whose request came last, and the bytes that were charged before');

type CountedSocket = Socket & { [countedKey]?: { client: string; bytes: number } };

/**
 * Charges clients for the bytes that come in on their connections. A request with a body of a megabyte that is refused keeps the
 * process as busy as a page of a list does, and costs its client next to nothing by what it asks for.
 */
export class ReceivedBytes {
  readonly #shares: Pick<ClientShares, 'charge'>;

  constructor(shares: Pick<ClientShares, 'charge'>) {
    this.#shares = shares;
  }

  /**
   * To be called with each request that has a body, or may follow one of another client on a connection of a proxy: what comes
   * on its connection until the next one, or the end, is its client's.
   */
  count(socket: CountedSocket, client: string, now: number): void {
    if (socket[countedKey]) this.#charge(socket, now);
    else socket.once('close', () => this.#charge(socket, performance.now()));
    socket[countedKey] = { client, bytes: socket.bytesRead };
  }

  #charge(socket: CountedSocket, now: number): void {
    const { client, bytes } = socket[countedKey] as { client: string; bytes: number };
    const cost = Math.floor((socket.bytesRead - bytes) / chargedBytes) * costOfBytes;
    if (cost > 0) this.#shares.charge(client, cost, now);
  }
}
