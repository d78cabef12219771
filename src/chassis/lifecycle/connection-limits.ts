import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Environment } from '../config/environment.ts';
import { clientKey } from '../context/request-context.ts';
import { hasBody } from '../http/bodies/request-body.ts';
import { onClose } from '../http/pipeline/request-pipeline.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { ConnectionMetrics, RefusedBy } from '../telemetry/metrics/connection-metrics.ts';
import { throttledLine } from '../telemetry/throttled-line.ts';
import { ClientConnections, type CountedSocket } from './client-connections.ts';
import type { CutConnection } from './cut-connections.ts';
import { DisplaceableConnections } from './displaceable-connections.ts';
import { OpenSet } from './drain.ts';

/** When so many of all connections are open, clients of proxies with more than their share begin nothing more. */
const fewLeft = 0.75;
/** When so many are open, it is noted four times a second which of them wait for their clients. */
const watchedFrom = 0.5;
const watchMs = 250;
/** The share of a client, of what each would have if all had the same, and of connections at least. */
const shareOfClient = 0.5;
const leastShare = 32;

const messages: Readonly<Record<RefusedBy, string>> = {
  total: 'connections refused: too many are open',
  address: 'connections refused: too many are open',
  pipelined: 'connections refused: their client has given up too many pipelined requests',
};

/** How many connections a server has at most. */
export type ConnectionLimits = Pick<Environment, 'HTTP_MAX_CONNECTIONS' | 'HTTP_MAX_CONNECTIONS_PER_ADDRESS'>;

/** Where a server reports its connections and their clients. */
export interface ConnectionWatch {
  logger: Logger;
  metrics: ConnectionMetrics;
  /** One for all of a server. */
  cut: CutConnection;
  /** Whether an address is a proxy's, which brings the connections of many clients. */
  isProxy(address: string): boolean;
  /** The client of a request, as `clientKey` gives it, by what a proxy tells. Default: connections of proxies count for nobody. */
  clientOf?(req: IncomingMessage): string;
  /** Whether a client, as `clientKey` gives it, is not to open further connections now. Default: none is. */
  isBarred?(client: string): boolean;
}

/** How many further connections a server takes. */
export interface ConnectionPlaces {
  /** Whether they are few. */
  areFewLeft(): boolean;
  /**
   * Whether they are few and a client has more than its share of them, whose request came on one of a proxy: it is to be
   * refused, because a proxy's connection tells whose it is when its request is read, and then it has its place already.
   */
  hasTooMany(client: string, socket: Socket): boolean;
}

/** The open connections of a server, and how many more it takes. */
interface LimitedConnections {
  sockets: OpenSet<Socket>;
  places: ConnectionPlaces;
}

/**
 * Bounds the connections of a server, in total and from one address; IPv6 addresses of one /64 count as one. One beyond that is
 * closed before anything is made for it: each open connection costs memory, whether it is used or not; so is one of a client
 * that is barred. At the total, one of the address with the most gives way to one of an address that has fewer, or to a
 * proxy's, so that few addresses never keep all others out. A connection of a proxy counts for the client whose request is
 * under way on it: who sends slowly through the proxy would otherwise have all of them, and the proxy none for anybody else.
 */
export function limitConnections(
  server: Server,
  { HTTP_MAX_CONNECTIONS: total, HTTP_MAX_CONNECTIONS_PER_ADDRESS: perAddress }: ConnectionLimits,
  watch: ConnectionWatch,
): LimitedConnections {
  const sockets = new OpenSet<Socket>();
  const clients = new ClientConnections();
  const displaceable = new DisplaceableConnections(sockets);
  const refused = refusals(watch);
  const { clientOf, isProxy } = watch;
  let followsProxies = false;

  function leave(this: Socket): void {
    sockets.remove(this);
    clients.remove(this);
  }

  function makeRoomFor(own: number): boolean {
    const socket = displaceable.find(own, clients.most);
    if (socket === undefined) return false;
    // Its place is free at once; it closes in a later turn of the event loop.
    socket.off('close', leave);
    Reflect.apply(leave, socket, []);
    watch.cut(socket, 'displaced');
    return true;
  }

  /** What a new connection is beyond, of a client that has so many. */
  function limitOf(client: string | undefined, own: number): RefusedBy | undefined {
    if (own >= perAddress) return 'address';
    if (client !== undefined && watch.isBarred?.(client)) return 'pipelined';
    return sockets.size >= total && !makeRoomFor(own) ? 'total' : undefined;
  }

  // Before Node makes a parser for it.
  server.prependListener('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const client = isProxy(address) ? undefined : clientKey(address);
    const own = client === undefined ? 0 : clients.of(client);
    // Not by maxConnections, which each of the sockets that listen would have for itself.
    const limit = limitOf(client, own);
    if (limit) {
      refused(limit, address);
      socket.destroy();
      return;
    }
    if (client !== undefined) clients.add(socket, client);
    else if (clientOf && !followsProxies) {
      // From the first connection of a proxy on, because requests of others pay nothing for it so.
      followsProxies = true;
      countRequestsOfProxies(server, clients, { isProxy, clientOf });
    }
    sockets.add(socket);
    socket.on('close', leave);
  });
  const timer = setInterval(() => {
    if (sockets.size >= total * watchedFrom) displaceable.look();
  }, watchMs).unref();
  server.once('close', () => clearInterval(timer));
  watch.metrics.watch(() => sockets.size);
  const share = () => Math.max(leastShare, (total / Math.max(1, clients.size)) * shareOfClient);
  const areFewLeft = () => sockets.size > total * fewLeft;
  const hasTooMany = (client: string, { remoteAddress = '' }: Socket) =>
    areFewLeft() && isProxy(remoteAddress) && clients.of(client) > share();
  return { sockets, places: { areFewLeft, hasTooMany } };
}

const underWayKey = Symbol('requests of a proxy that are under way on the connection');

/**
 * A proxy's connection counts for the client whose request came on it last, as long as any is under way: where two came in one
 * packet, also once the first is answered. Between requests it counts for nobody: the proxy may use it in that moment.
 */
function countRequestsOfProxies(
  server: Server,
  clients: ClientConnections,
  { isProxy, clientOf }: Required<Pick<ConnectionWatch, 'isProxy' | 'clientOf'>>,
): void {
  const count = (req: IncomingMessage, res: ServerResponse) => {
    const socket: CountedSocket & { [underWayKey]?: number } = req.socket;
    if (!isProxy(socket.remoteAddress ?? '')) return;
    clients.remove(socket);
    clients.add(socket, clientOf(req));
    socket[underWayKey] = (socket[underWayKey] ?? 0) + 1;
    const end = () => {
      socket[underWayKey] = (socket[underWayKey] as number) - 1;
      if (socket[underWayKey] === 0) clients.remove(socket);
    };
    // Until all of its body has come the request is under way, also where it is answered. One without a body has no end.
    onClose(res, () => void (req.complete || !hasBody(req) ? end() : req.once('end', end)));
  };
  server.prependListener('request', count);
}

/** Counts each refusal, and has a line in the log for all of one limit within ten seconds. */
function refusals({ logger, metrics }: ConnectionWatch) {
  const teller = (limit: RefusedBy) =>
    throttledLine<string | undefined>((refused, ipAddress) =>
      logger.warn({ refused, limit, ipAddress }, messages[limit]),
    );
  const tell = { total: teller('total'), address: teller('address'), pipelined: teller('pipelined') };
  return (limit: RefusedBy, ipAddress: string | undefined): void => {
    metrics.refused(limit);
    tell[limit](ipAddress);
  };
}
