import { connect } from 'node:net';

/** Where a query runs, as the driver's client tells it. */
export interface RunningBackend {
  readonly host: string;
  readonly port: number;
  readonly processID: number;
  readonly secretKey: number;
}

const cancelRequest = 80_877_102;
const limitMs = 1000;

/**
 * Asks PostgreSQL to cancel what a connection is running (protocol: CancelRequest), over a connection of its own that
 * needs no login and no place in the pool, and that a pooler between understands too.
 *
 * @returns true once the server has acted upon it, so that the next query of that connection cannot be hit any more;
 *   false when that is not known after a second
 */
export function cancelQuery({ host, port, processID, secretKey }: RunningBackend): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.setTimeout(limitMs, () => socket.destroy());
  socket.on('connect', () => socket.write(requestOf(processID, secretKey)));
  // The server says nothing: it sends the signal, and closes.
  socket.on('end', () => resolve(true));
  socket.on('error', () => socket.destroy());
  socket.on('close', () => resolve(false));
  return promise;
}

function requestOf(processID: number, secretKey: number): Buffer {
  const request = Buffer.alloc(16);
  request.writeInt32BE(request.length, 0);
  request.writeInt32BE(cancelRequest, 4);
  request.writeInt32BE(processID, 8);
  request.writeInt32BE(secretKey, 12);
  return request;
}
