/** Fastify 5 as its documents show it, with what Slipway has switched on. */
import { randomUUID } from 'node:crypto';
import process from 'node:process';
import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import Fastify from 'fastify';
import { count, failure, index, one, page } from './shop.js';

const app = Fastify({ logger: true, requestIdHeader: 'x-request-id', genReqId: () => randomUUID() });
app.addHook('onRequest', (request, reply, done) => {
  reply.header('x-request-id', request.id);
  done();
});
app.addHook('onResponse', (request, reply, done) => {
  count(request.method, request.routeOptions.url, reply.statusCode, reply.elapsedTime / 1000);
  done();
});
await app.register(helmet);
await app.register(cors);
app.get('/', async () => index);
app.get('/api/v1/products/paginated', async (request) => page(request.query));
app.get('/api/v1/products/:id', async (request) => one(request.params.id));
app.setNotFoundHandler((request, reply) =>
  reply.code(404).send(failure({ status: 404, message: `No route ${request.method} ${request.url}` })),
);
app.setErrorHandler((error, _request, reply) => {
  const status = error.status ?? 500;
  return reply.code(status).send(failure({ status, message: error.message, details: error.details }));
});
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
