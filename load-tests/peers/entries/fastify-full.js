/** Fastify 5 as its documents show it, with the telemetry that Slipway has when everything is on. */
import { randomUUID } from 'node:crypto';
import process from 'node:process';
import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import Fastify from 'fastify';
import { Histogram } from 'prom-client';

const histogram = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Duration of requests',
  labelNames: ['method', 'route', 'status'],
});
const app = Fastify({ logger: true, requestIdHeader: 'x-request-id', genReqId: () => randomUUID() });
const reply = {
  type: 'object',
  properties: {
    success: { type: 'boolean' },
    data: { type: 'object', properties: { status: { type: 'string' } } },
  },
};

app.addHook('onRequest', (request, response, done) => {
  response.header('x-request-id', request.id);
  done();
});
app.addHook('onResponse', (request, response, done) => {
  const route = request.routeOptions.url ?? 'unmatched';
  histogram.observe({ method: request.method, route, status: response.statusCode }, response.elapsedTime / 1000);
  done();
});
await app.register(helmet);
await app.register(cors);
app.get('/ping', { schema: { response: { 200: reply } } }, async () => ({ success: true, data: { status: 'ok' } }));
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
