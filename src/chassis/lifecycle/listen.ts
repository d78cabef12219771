import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import type { Environment } from '../config/environment.ts';
import { getRequestContext } from '../context/request-context.ts';
import { answerClientErrors, type RefusalOptions, refuseTunnels } from '../http/answers/client-error.ts';
import { writeTogether } from '../http/answers/responses.ts';
import { closeIgnoredUpgrades, closeUnreadConnections, continueWhenRead } from '../http/bodies/request-body.ts';
import { boundFields, refuseExpectations, type Turns } from '../http/pipeline/request-pipeline.ts';
import { type Accepting, canShare, expectFree, listenOptions, shareAccepting } from './accept-sockets.ts';
import {
  type ConnectionLimits,
  type ConnectionPlaces,
  type ConnectionWatch,
  limitConnections,
} from './connection-limits.ts';
import type { MemoryGuard } from './memory-guard.ts';
import { cutStalledAnswers, type SendLimits } from './stalled-answers.ts';
import { StartUpError } from './start-up-report.ts';
import { WaitingConnections } from './waiting-connections.ts';

const lateRequestCheckMs = 1000;

/** Where a server listens. */
export interface ListenAddress {
  host: string;
  port: number;
  url: string;
}

type Times = Pick<Environment, 'HTTP_HEADERS_TIMEOUT_MS' | 'HTTP_RECEIVE_TIMEOUT_MS' | 'HTTP_KEEP_ALIVE_TIMEOUT_MS'>;

/** What a server holds for its clients at most. */
type ServerLimits = ConnectionLimits & SendLimits;

/** What requests and responses are made of; by default what Node makes them of. */
interface ServerParts extends Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
  /** Of requests that the listener has no part in; by default they begin at once. */
  turns?: Turns;
  /** Whether this address is a proxy's, whose connections bring the requests of many clients. Default: none is. */
  isProxy?: (address: string) => boolean;
}

/**
 * An HTTP server that gives its clients a bounded time to send a request, within a second: 408 and a closed connection
 * for those who are late, for a connection that sends nothing too. Bytes that are no request get the one error body, and
 * a client that waits for a 100 Continue gets it once its body is read.
 *
 * @param refusal what the answers carry that the listener has no part in, and where they are logged
 */
export function createHttpServer(
  listener: RequestListener,
  times: Times,
  refusal: RefusalOptions,
  { turns, isProxy = () => false, ...messages }: ServerParts = {},
): Server {
  const server = createServer(
    {
      ...messages,
      headersTimeout: times.HTTP_HEADERS_TIMEOUT_MS,
      requestTimeout: Math.max(times.HTTP_RECEIVE_TIMEOUT_MS, times.HTTP_HEADERS_TIMEOUT_MS),
      keepAliveTimeout: times.HTTP_KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: lateRequestCheckMs,
      // Node would answer without a body; the listener answers with one.
      requireHostHeader: false,
      // Without a body there is nothing to read: the stream is made closed, which spares a tenth of a small request's cost.
      optimizeEmptyRequests: true,
    },
    listener,
  );
  boundFields(server);
  closeUnreadConnections(server);
  closeIgnoredUpgrades(server, isProxy);
  writeTogether(server);
  return server
    .on('clientError', answerClientErrors(refusal))
    .on('connect', refuseTunnels(refusal))
    .on('checkContinue', continueWhenRead(server))
    .on('checkExpectation', refuseExpectations(refusal, turns));
}

/**
 * Bounds what the clients of a server cost it in memory: open connections and unread answers.
 *
 * @param watch where what is refused and cut is told, and the guard of the memory that connections give back
 * @returns how many further connections it takes
 */
export function limitClients(
  server: Server,
  limits: ServerLimits,
  { memory, ...watch }: ConnectionWatch & { memory?: Pick<MemoryGuard, 'add'> },
): ConnectionPlaces {
  const { sockets, places } = limitConnections(server, limits, watch);
  cutStalledAnswers(server, sockets, limits, watch.cut);
  memory?.add(new WaitingConnections({ sockets, cut: watch.cut, isProxy: watch.isProxy }));
  return places;
}

/** The settings that host and port come from, for the error's message. */
interface ListenSettings {
  host: string;
  port: string;
  /** How many connections are accepted in each turn, where nobody who opens many may keep those of others waiting. Default: one. */
  accepts?: Accepting;
  /** Whether other processes may listen there too. Default: no. */
  isShared?: boolean;
}

/**
 * Listens and answers with the real address.
 *
 * @throws StartUpError when the address cannot be taken
 */
export async function listen(
  server: Server,
  { host, port }: { host: string; port: number },
  settings: ListenSettings = { host: 'HOST', port: 'PORT', accepts: 'many' },
): Promise<ListenAddress> {
  const shared = settings.accepts && canShare ? { host, port, accepts: settings.accepts } : undefined;
  try {
    if (shared && port !== 0 && !settings.isShared) await expectFree(host, port);
    server.listen(shared ? listenOptions(shared) : { host, port });
    await once(server, 'listening');
    if (shared) await shareAccepting(server, { ...shared, port: (server.address() as AddressInfo).port });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new StartUpError(
      `Expected to listen on ${host}:${port}, found ${code === 'EADDRINUSE' ? 'another process there' : code}; ` +
        `stop it or set ${settings.port} and ${settings.host} to a free address.`,
      { cause },
    );
  }
  const bound = (server.address() as AddressInfo).port;
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return { host, port: bound, url: `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${bound}` };
}

/**
 * Has the listeners of a server's connections, such as those that a module adds to `req.socket`, run within `run`: Node
 * calls them outside of any request, where nothing else says which service is meant.
 */
export function runListeners(server: Server, run: <T>(work: () => T) => T): void {
  function emit(this: Socket, ...event: unknown[]): boolean {
    const heard = () => Reflect.apply(Socket.prototype.emit, this, event) as boolean;
    return getRequestContext() ? heard() : run(heard);
  }
  server.prependListener('connection', (socket: Socket) => {
    socket.emit = emit as Socket['emit'];
  });
}
