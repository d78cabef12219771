import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { clientsBy } from '../../../src/chassis/admission/admission.ts';
import { chargeConnections } from '../../../src/chassis/admission/charged-connections.ts';
import { FairReading } from '../../../src/chassis/admission/fair-reading.ts';
import { boundedRequest } from '../../../src/chassis/http/bodies/request-body.ts';
import { connectionCutter } from '../../../src/chassis/lifecycle/cut-connections.ts';
import { ConnectionMetrics } from '../../../src/chassis/telemetry/metrics/connection-metrics.ts';
import { memoryLog } from '../http/bare-app.ts';
import { listening } from '../http/listening.ts';

/** What a client is charged for a connection on which it sends some bytes, by itself or through a proxy, until that is closed. */
async function chargedFor(bytes: string, { proxy, client = '127.0.0.2' }: { proxy?: string; client?: string } = {}) {
  const { logger } = memoryLog();
  const cut = connectionCutter({ logger, metrics: new ConnectionMetrics() });
  const server = createServer({ IncomingMessage: boundedRequest(cut) }, (req, res) => {
    req.resume().on('end', () => res.setHeader('Connection', 'close').end());
  });
  let cost = 0;
  const shares = {
    charge: (charged: string, more: number) => {
      if (charged === client) cost += more;
    },
  };
  const isTrusted = (address: string) => address === proxy;
  const reading = new FairReading();
  reading.watch(server, isTrusted);
  server.prependListener('request', (req) => reading.follow(req.socket, clientsBy(isTrusted)(req)));
  chargeConnections(server, shares, isTrusted);
  server.on('clientError', (_error, socket) => void socket.destroy());
  const { port } = await listening(server);
  const closed = Promise.withResolvers<void>();
  server.on('connection', (socket) => socket.once('close', closed.resolve));
  const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' }).resume();
  socket.on('error', () => undefined);
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  await once(socket, 'connect');
  socket.end(bytes);
  await closed.promise;
  return cost;
}

const post = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';

it.each([
  ['that brings a request', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', 12],
  ['that brings what is no request', '\x16\x03\x01', 24],
  ['that is cut because of the small chunks on it', post + '1\r\na\r\n'.repeat(2000), 72],
])('charges a client for a connection %s', async (_what, bytes, cost) => {
  expect(await chargedFor(bytes)).toBe(cost);
});

it('charges nobody for the connections of a proxy, which are of many clients', async () => {
  expect(await chargedFor('\x16\x03\x01', { proxy: '127.0.0.2' })).toBe(0);
});

it('charges the client of a proxy for a connection of it that is cut because of the small chunks of its request', async () => {
  const bytes = post.replace('Host', 'X-Forwarded-For: 10.0.0.1\r\nHost') + '1\r\na\r\n'.repeat(2000);
  expect(await chargedFor(bytes, { proxy: '127.0.0.2', client: '10.0.0.1' })).toBe(60);
  expect(await chargedFor(bytes, { proxy: '127.0.0.2' })).toBe(0);
});
