import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** Where a query runs, as the driver's client tells it. */
export interface RunningBackend {
  readonly host: string;
  readonly port: number;
  readonly processID: number;
  readonly secretKey: number;
}

const cancelRequest = 80_877_102;
const limitMs = 1000;

/** How long a statement that was cancelled may take to end, and how often it is cancelled. */
const endsWithinMs = 250;
const mostCancels = 4;

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

/** A connection that runs a query, as the driver's client is one. */
export type RunningConnection = RunningBackend & { end(): Promise<void> };

/**
 * Ends what a connection is running, so that nothing can hit what it runs next; closes the connection where that is not
 * certain. Between the statements of one query a request to cancel finds nothing to act upon, so it is repeated.
 *
 * @param ended resolves when the query has ended, whatever became of it
 */
export async function stopQuery(connection: RunningConnection, ended: Promise<void>): Promise<void> {
  for (let tried = 0; tried < mostCancels; tried += 1) {
    if (!(await cancelQuery(connection))) break;
    if (await Promise.race([ended.then(() => true), wait(endsWithinMs, false)])) return;
  }
  // Fails the query, and the pool lends it no more.
  await connection.end();
}

function requestOf(processID: number, secretKey: number): Buffer {
  const request = Buffer.alloc(16);
  request.writeInt32BE(request.length, 0);
  request.writeInt32BE(cancelRequest, 4);
  request.writeInt32BE(processID, 8);
  request.writeInt32BE(secretKey, 12);
  return request;
}
