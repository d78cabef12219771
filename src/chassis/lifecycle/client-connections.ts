import type { Socket } from 'node:net';
import { clientKey } from '../context/request-context.ts';

const clientSymbol = Symbol('client that the connection counts for');

/** A socket that may count for a client. */
export type CountedSocket = Socket & { [clientSymbol]?: Client | undefined };

interface Client {
  readonly key: string;
  connections: number;
}

/** How many connections a socket's client has; 0 for a socket that counts for none. */
export function connectionsOfClient(socket: CountedSocket): number {
  return socket[clientSymbol]?.connections ?? 0;
}

/** The client that a connection counts for, as `clientKey` gives it; where it counts for none, the address that is connected. */
export function clientOfConnection(socket: CountedSocket): string {
  return socket[clientSymbol]?.key ?? clientKey(socket.remoteAddress);
}

/** How many connections each client has, and the client with the most; each change takes the same time, however many there are. */
export class ClientConnections {
  readonly #clients = new Map<string, Client>();
  /** How many clients have one connection, two, and so on, by that number. */
  readonly #clientsWith: number[] = [];
  #most = 0;

  /** What the client with the most connections has. */
  get most(): number {
    return this.#most;
  }

  /** How many clients have any. */
  get size(): number {
    return this.#clients.size;
  }

  /** How many connections a client has. */
  of(key: string): number {
    return this.#clients.get(key)?.connections ?? 0;
  }

  /** Counts a connection for a client. */
  add(socket: CountedSocket, key: string): void {
    const client = this.#clients.get(key) ?? { key, connections: 0 };
    if (client.connections === 0) this.#clients.set(key, client);
    socket[clientSymbol] = client;
    this.#change(client, 1);
    if (client.connections > this.#most) this.#most = client.connections;
  }

  /** Ends the count of a connection, if it counts for a client. */
  remove(socket: CountedSocket): void {
    const client = socket[clientSymbol];
    if (client === undefined) return;
    socket[clientSymbol] = undefined;
    this.#change(client, -1);
    if (client.connections === 0) this.#clients.delete(client.key);
    if (this.#clientsWith[this.#most] === 0) this.#most -= 1;
  }

  #change(client: Client, by: 1 | -1): void {
    const { connections: before } = client;
    if (before > 0) this.#clientsWith[before] = (this.#clientsWith[before] ?? 1) - 1;
    client.connections = before + by;
    if (client.connections > 0) this.#clientsWith[before + by] = (this.#clientsWith[before + by] ?? 0) + 1;
  }
}
