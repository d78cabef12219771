import express from 'express';
import request from 'supertest';
import { expect, it } from 'vitest';
import { logRequests, requestLoggers } from '../../../../src/chassis/http/pipeline/log-requests.ts';
import { requestPipeline } from '../../../../src/chassis/http/pipeline/request-pipeline.ts';
import { setLogLevel } from '../../../../src/chassis/telemetry/logger.ts';
import { memoryLog } from '../bare-app.ts';

it('req.id is the id of the request, and req.log binds for its request alone, carries its id, masks secrets and follows the level', async () => {
  const { logger, lines } = memoryLog('info');
  const app = express();
  requestLoggers(app, logger);
  app.use(requestPipeline({ observers: [logRequests({ logger })] }));
  app.get('/:order', async (req, res) => {
    req.log.setBindings({ order: req.params.order, apiToken: 'hidden' });
    await new Promise((resolve) => setImmediate(resolve));
    req.log.info('first');
    req.log.child({ step: 2 }).info('second');
    req.log.debug('at debug');
    expect(req.log).toBe(req.log);
    expect(req.id).toBe(`id-${req.params.order}`);
    res.log.info('of the answer');
    res.end();
  });
  const ask = (order: string) => request(app).get(`/${order}`).set('x-request-id', `id-${order}`);
  await Promise.all([ask('a'), ask('b')]);
  const of = (order: string) => lines.filter(({ requestId }) => requestId === `id-${order}`);
  for (const order of ['a', 'b']) {
    expect(of(order)).toMatchObject([
      { msg: 'first', order, apiToken: '[redacted]' },
      { msg: 'second', order, step: 2 },
      { msg: 'of the answer' },
      { msg: 'request completed' },
    ]);
    expect(of(order)[3]).not.toHaveProperty('order');
  }
  setLogLevel(logger, 'debug');
  await ask('c');
  expect(of('c').map(({ msg }) => msg)).toContain('at debug');
  logger.info('of the service');
  expect(lines.at(-1)).not.toHaveProperty('order');
});
