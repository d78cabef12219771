/** Express 5 as its users set it up, with what Slipway has switched on. */
import { randomUUID } from 'node:crypto';
import process from 'node:process';
import compression from 'compression';
import cors from 'cors';
import express from 'express';
import helmet from 'helmet';
import { pinoHttp } from 'pino-http';
import { count, failure, index, one, page, Refusal } from './shop.js';

/** The steps before every route, which the peers on Express share. */
export function steps() {
  const log = pinoHttp({ genReqId: (req) => req.headers['x-request-id'] ?? randomUUID() });
  const measure = (req, res, next) => {
    const started = performance.now();
    res.setHeader('x-request-id', req.id);
    res.on('finish', () => count(req.method, req.route?.path, res.statusCode, (performance.now() - started) / 1000));
    next();
  };
  return [log, measure, helmet(), cors(), compression(), express.json()];
}

if (import.meta.main) {
  const app = express();
  app.use(...steps());
  app.get('/', (_req, res) => res.json(index));
  app.get('/api/v1/products/paginated', async (req, res) => res.json(await page(req.query)));
  app.get('/api/v1/products/:id', async (req, res) => res.json(await one(req.params.id)));
  app.use((req) => {
    throw new Refusal(404, `No route ${req.method} ${req.path}`);
  });
  app.use((error, _req, res, _next) => {
    const status = error.status ?? 500;
    res.status(status).json(failure({ status, message: error.message, details: error.details }));
  });
  app.listen(Number(process.env.PORT), '127.0.0.1');
}
