import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { toException } from '../errors/convert-error.ts';
import { MethodNotAllowedException, NotFoundException } from '../errors/exceptions.ts';
import { AnswerHeaders } from '../http/answers/answer-headers.ts';
import { answerClientErrors, refuseTunnels } from '../http/answers/client-error.ts';
import { sendFailure } from '../http/answers/send-failure.ts';
import { boundedRequest } from '../http/bodies/request-body.ts';
import { requestIdOf } from '../http/pipeline/request-context-of.ts';
import { beginInTurn, refuseExpectations } from '../http/pipeline/request-pipeline.ts';
import { connectionCutter } from '../lifecycle/cut-connections.ts';
import { type ListenAddress, limitClients, listen } from '../lifecycle/listen.ts';
import { PipelinedRequests } from '../lifecycle/pipelined-requests.ts';
import type { Logger } from '../telemetry/logger.ts';
import { ConnectionMetrics } from '../telemetry/metrics/connection-metrics.ts';
import type { InternalAnswer } from './diagnostics.ts';
import { type InternalRoute, internalRoutes, type Operated } from './internal-routes.ts';

/** An internal server that listens. */
interface InternalServer {
  readonly address: ListenAddress;
  /** Lets requests in flight finish, for at most half a second. Close it after the public server, so that probes are answered to the end. */
  close(): Promise<void>;
}

/** A request that came and went slower than this would hold a connection of the operators' own port. */
const limits = { requestTimeout: 5_000, headersTimeout: 5_000, connectionsCheckingInterval: 1_000 };
/** Node would answer what comes without a Host by itself, without a body. */
const options = { ...limits, requireHostHeader: false };
/**
 * What all callers hold of memory, as for the public port. Any pod of a cluster may connect, so one address never takes all
 * connections: a probe that is refused has the pod restarted.
 */
const clientLimits = {
  HTTP_MAX_CONNECTIONS: 512,
  HTTP_MAX_CONNECTIONS_PER_ADDRESS: 64,
  /** As long as the longest pause within a heap snapshot. */
  HTTP_SEND_TIMEOUT_MS: 60_000,
  HTTP_SEND_BUDGET_BYTES: 8_388_608,
};
const silenceMs = 10_000;
/** Accepted one at a time, five hundred connections had a probe wait until it was given up. */
const accepting = { host: 'INTERNAL_HOST', port: 'INTERNAL_PORT', accepts: 'few' } as const;
/** Longer than the time between two scrapes, so that Prometheus keeps its connection. */
const keepAliveMs = 65_000;
const closeMs = 500;

/**
 * Starts the server for operators: `/livez`, `/readyz`, `/metrics`, `/info`, `/config`,
 * `/log-level` and `/profile`, on a
 * port of its own that no client reaches. Open it before anything else and close it last.
 *
 * @throws StartUpError when the address cannot be taken
 */
export async function startInternalServer(service: Operated): Promise<InternalServer> {
  const { settings, logger } = service;
  const routes = internalRoutes(service);
  const headers = new AnswerHeaders({ security: true });
  const refusal = { headers, logger };
  // The metrics of connections are those of the public port.
  const metrics = new ConnectionMetrics();
  const cut = connectionCutter({ logger, metrics });
  const turns = new PipelinedRequests(clientLimits, cut);
  const handle = beginInTurn(turns, (req, res) => {
    res.setHeader('x-request-id', requestIdOf(req));
    headers.apply(res);
    void answer(routes, logger, req, res);
  });
  const server = createServer({ ...options, IncomingMessage: boundedRequest(cut) }, handle)
    .on('clientError', answerClientErrors(refusal))
    .on('connect', refuseTunnels(refusal))
    .on('checkExpectation', refuseExpectations(refusal, turns));
  limitClients(server, clientLimits, {
    logger,
    metrics,
    cut,
    isProxy: () => false,
    isBarred: (client) => turns.isBarred(client),
  });
  server.timeout = silenceMs;
  server.keepAliveTimeout = keepAliveMs;
  const own = { host: settings.INTERNAL_HOST, port: settings.INTERNAL_PORT };
  const address = await listen(server, own, accepting);
  return { address, close: () => closeServer(server) };
}

/** Responses are ready in a moment; silent and unread connections are not waited for. */
async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), closeMs);
  await closed;
  clearTimeout(cut);
}

async function answer(
  routes: ReadonlyMap<string, InternalRoute>,
  logger: Logger,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  try {
    send(res, await handlerOf(routes, req)(req));
  } catch (error) {
    const exception = toException(error);
    if (exception.statusCode >= 500) logger.error({ err: error, url: req.url }, 'internal request failed');
    // What is left of a refused body is not waited for.
    if (!req.complete) res.setHeader('connection', 'close');
    sendFailure(res, exception, true);
  }
}

/** The handler of a request; HEAD is GET, whose body Node leaves out. */
function handlerOf(routes: ReadonlyMap<string, InternalRoute>, req: IncomingMessage) {
  const path = req.url?.split('?', 1)[0]?.slice(0, 200) ?? '';
  const route = routes.get(path);
  if (!route) throw new NotFoundException(`No route ${req.method} ${path}`);
  const handler = req.method === 'PUT' ? route.put : ['GET', 'HEAD'].includes(req.method ?? '') ? route.get : undefined;
  if (handler) return handler;
  const allow = route.put ? 'GET, HEAD, PUT' : 'GET, HEAD';
  throw new MethodNotAllowedException(`${path} does not take ${req.method}, only ${allow}`, undefined, {
    headers: { Allow: allow },
  });
}

function send(res: ServerResponse, { status, contentType, text, stream }: InternalAnswer): void {
  if (stream) {
    res.writeHead(status, { 'Content-Type': contentType, 'Cache-Control': 'no-store' });
    // A client that leaves ends the stream, and a stream that fails cuts the answer: neither needs a line.
    pipeline(stream, res, () => undefined);
    return;
  }
  res.writeHead(status, {
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
  });
  res.end(text);
}
