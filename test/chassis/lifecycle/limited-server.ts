import type { RequestListener } from 'node:http';
import { onTestFinished } from 'vitest';
import { noAnswerHeaders } from '../../../src/chassis/http/answers/answer-headers.ts';
import { connectionCutter } from '../../../src/chassis/lifecycle/cut-connections.ts';
import { createHttpServer, limitClients } from '../../../src/chassis/lifecycle/listen.ts';
import { ConnectionMetrics } from '../../../src/chassis/telemetry/metrics/connection-metrics.ts';
import { memoryLog } from '../http/bare-app.ts';
import { listening } from '../http/listening.ts';

type Limits = Parameters<typeof limitClients>[1];
type Watch = Omit<Parameters<typeof limitClients>[2], 'logger' | 'cut'>;

/** The times that a server gives its clients, long enough for a test. */
const times = { HTTP_HEADERS_TIMEOUT_MS: 10_000, HTTP_RECEIVE_TIMEOUT_MS: 60_000, HTTP_KEEP_ALIVE_TIMEOUT_MS: 65_000 };
/** Limits that no test meets by chance. */
const plenty: Limits = {
  HTTP_SEND_TIMEOUT_MS: 60_000,
  HTTP_SEND_BUDGET_BYTES: 1e9,
  HTTP_MAX_CONNECTIONS: 1000,
  HTTP_MAX_CONNECTIONS_PER_ADDRESS: 1000,
};

/** A server that listens until its test has ended and bounds what its clients cost; by default no address is a proxy's. */
export async function limitedServer(listener: RequestListener, limits: Partial<Limits>, watch: Partial<Watch> = {}) {
  const { logger, lines } = memoryLog();
  const server = createHttpServer(listener, times, { headers: noAnswerHeaders, logger });
  const metrics = watch.metrics ?? new ConnectionMetrics();
  const cut = connectionCutter({ logger, metrics });
  limitClients(server, { ...plenty, ...limits }, { logger, metrics, cut, isProxy: () => false, ...watch });
  const address = await listening(server);
  onTestFinished(() => address[Symbol.asyncDispose]());
  return { port: address.port, lines, server };
}
