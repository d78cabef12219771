import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import express, { type IRoute, type RequestHandler } from 'express';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { getRequestContext } from '../../../src/chassis/context/request-context.ts';
import { BadRequestException } from '../../../src/chassis/errors/exceptions.ts';
import { errorHandler } from '../../../src/chassis/http/error-handler.ts';
import { logRequests } from '../../../src/chassis/http/log-requests.ts';
import { requestPipeline } from '../../../src/chassis/http/request-pipeline.ts';
import { sendData } from '../../../src/chassis/http/responses.ts';
import { rememberTemplate } from '../../../src/chassis/http/route-table.ts';
import { bareApp, memoryLog, throwing } from './bare-app.ts';
import { listening } from './listening.ts';

describe('logRequests', () => {
  it('writes one line with id, method, url, route, status, duration, bytes and user', async () => {
    const { logger, lines } = memoryLog();
    const app = express().use(requestPipeline(), logRequests({ logger }));
    const route = app.route('/products/:id').get((_req, res) => {
      Object.assign(getRequestContext() as object, { userId: 'u1' });
      sendData(res, 200, 'x');
    });
    rememberTemplate(route as unknown as IRoute, '/api/products/:id');
    await request(app).get('/products/7?token=t').set('x-request-id', 'r1').set('authorization', 'Bearer hunter2');
    expect(lines).toEqual([
      {
        level: 'info',
        time: expect.any(Number),
        requestId: 'r1',
        method: 'GET',
        url: '/products/7?token=[redacted]',
        route: '/api/products/:id',
        status: 200,
        durationMs: expect.any(Number),
        bytes: 27,
        userId: 'u1',
        msg: 'request completed',
      },
    ]);
  });

  it('works on an app that has no pipeline', async () => {
    const { logger, lines } = memoryLog();
    await request(bareApp([logRequests({ logger }), (_req, res) => void res.end()])).get('/a');
    expect(lines).toMatchObject([{ method: 'GET', url: '/a', status: 200, requestId: expect.any(String) }]);
  });

  it.each([
    ['before', (log: RequestHandler) => [throwing(new BadRequestException()), log]],
    ['after', (log: RequestHandler) => [log, throwing(new BadRequestException())]],
  ])('writes one line for a request that fails %s it', async (_where, steps) => {
    const { logger, lines } = memoryLog();
    const app = express().use(requestPipeline());
    for (const step of steps(logRequests({ logger }))) app.use(step);
    app.use(errorHandler({ production: false, reporters: [] }));
    await request(app).get('/');
    expect(lines).toMatchObject([{ status: 400, msg: 'request completed' }]);
  });

  it('says of a request whose client went away that it was aborted', async () => {
    const { logger, lines } = memoryLog();
    const gone = Promise.withResolvers<void>();
    const hang: RequestHandler = (_req, res) => void res.once('close', () => gone.resolve());
    await using server = await listening(createServer(bareApp([requestPipeline(), logRequests({ logger }), hang])));
    const socket = connect(server.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n', () => socket.destroy());
    await once(socket, 'close');
    await gone.promise;
    expect(lines).toMatchObject([{ url: '/', msg: 'request aborted' }]);
  });
});
