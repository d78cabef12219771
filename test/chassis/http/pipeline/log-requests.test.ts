import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import express, { type Express, type IRoute, type RequestHandler, Router } from 'express';
import type { Logger } from 'pino';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { getRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { BadRequestException } from '../../../../src/chassis/errors/exceptions.ts';
import { logReporter } from '../../../../src/chassis/errors/reporters/log-reporter.ts';
import { errorHandler } from '../../../../src/chassis/http/answers/error-handler.ts';
import { sendData } from '../../../../src/chassis/http/answers/responses.ts';
import { logRequests } from '../../../../src/chassis/http/pipeline/log-requests.ts';
import { rememberTemplate, requestPipeline } from '../../../../src/chassis/http/pipeline/request-pipeline.ts';
import { setLogLevel } from '../../../../src/chassis/telemetry/logger.ts';
import { propagateTrace } from '../../../../src/chassis/telemetry/tracing/trace-context.ts';
import { bareApp, memoryLog, throwing } from '../bare-app.ts';
import { listening, sendRaw } from '../listening.ts';

/** An app whose requests are traced and logged. */
function loggedApp(logger: Logger, ...steps: RequestHandler[]): Express {
  const app = express().use(requestPipeline({ observers: [propagateTrace, logRequests({ logger })] }));
  for (const step of steps) app.use(step);
  return app.use(errorHandler({ logger, production: false, reporters: [] }));
}

const answer: RequestHandler = (_req, res) => void res.end();

describe('logRequests', () => {
  it('writes one line with id, trace, method, url, route, status, duration, bytes and user', async () => {
    const { logger, lines } = memoryLog();
    const app = express().use(requestPipeline({ observers: [propagateTrace, logRequests({ logger })] }));
    const route = app.route('/products/:id').get((_req, res) => {
      Object.assign(getRequestContext() as object, { userId: 'u1' });
      sendData(res, 200, 'x');
    });
    rememberTemplate(app, route as unknown as IRoute, '/api/products/:id');
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const headers = { 'x-request-id': 'r1', traceparent, authorization: 'Bearer hunter2' };
    await request(app).get('/products/7?token=t').set(headers);
    expect(lines).toEqual([
      {
        level: 'info',
        time: expect.any(Number),
        requestId: 'r1',
        traceId: '0af7651916cd43dd8448eb211c80319c',
        spanId: 'b7ad6b7169203331',
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

  it('writes one line for a request that fails in any step', async () => {
    const { logger, lines } = memoryLog();
    await request(loggedApp(logger, throwing(new BadRequestException()))).get('/');
    await request(loggedApp(logger, answer)).get('/%zz');
    expect(lines).toMatchObject([
      { status: 400, msg: 'request completed' },
      { status: 400, url: '/%zz', msg: 'request completed' },
    ]);
  });

  it('says in the line of a refused request why, as a warning, and in a line of its own what comes later', async () => {
    const { logger, lines } = memoryLog();
    const other = memoryLog();
    const reporters = [logReporter(logger), logReporter(other.logger)];
    const late = Promise.withResolvers<void>();
    const app = express().use(requestPipeline({ observers: [logRequests({ logger })] }));
    app.get('/refused', throwing(new BadRequestException('no such page', { page: 7 }, { context: { status: 1 } })));
    app.get('/late', (_req, res, next) => {
      res.once('close', () => {
        next(new BadRequestException('too late'));
        late.resolve();
      });
      res.end();
    });
    app.use(errorHandler({ logger, production: false, reporters }));
    await request(app).get('/refused');
    const refusal = { level: 'warn', exception: 'BadRequestException', statusCode: 400, msg: 'no such page' };
    expect(lines).toMatchObject([{ ...refusal, details: { page: 7 }, status: 400, durationMs: expect.any(Number) }]);
    expect(other.lines).toMatchObject([refusal]);
    await request(app).get('/late');
    await late.promise;
    expect(lines.slice(1)).toMatchObject([
      { level: 'info', status: 200, msg: 'request completed' },
      { level: 'warn', exception: 'BadRequestException', msg: 'too late' },
    ]);
  });

  it('says of a request whose client went away that it was aborted', async () => {
    const { logger, lines } = memoryLog();
    const gone = Promise.withResolvers<void>();
    const hang: RequestHandler = (_req, res) => void res.once('close', () => gone.resolve());
    await using server = await listening(createServer(loggedApp(logger, hang)));
    const socket = connect(server.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n', () => socket.destroy());
    await once(socket, 'close');
    await gone.promise;
    expect(lines).toMatchObject([{ url: '/', msg: 'request aborted' }]);
  });

  it.each(['/livez', '/readyz', '/metrics'])('writes nothing of %s unless it fails', async (path) => {
    const { logger, lines } = memoryLog();
    const app = loggedApp(logger, (req, res) => void res.status(req.query['fails'] ? 503 : 200).end());
    await request(app).get(path);
    await request(app).get(`${path}?fails=1`);
    expect(lines).toMatchObject([{ status: 503 }]);
  });

  it('writes of a route that only ends like one of them', async () => {
    const { logger, lines } = memoryLog();
    const app = bareApp([
      requestPipeline({ observers: [logRequests({ logger })] }),
      Router().use(
        '/shop',
        Router().get('/livez', (_req, res) => void res.end()),
      ),
    ]);
    await request(app).get('/shop/livez');
    expect(lines).toMatchObject([{ url: '/shop/livez' }]);
  });

  it('follows a change of the log level', async () => {
    const { logger, lines } = memoryLog('info');
    const app = loggedApp(logger, answer);
    const ofModule = logger.child({ module: 'shop' });
    setLogLevel(logger, 'warn');
    await request(app).get('/a');
    ofModule.info('a');
    setLogLevel(logger, 'info');
    expect(logger.level).toBe('info');
    await request(app).get('/b');
    ofModule.info('b');
    expect(lines.map(({ url, module }) => url ?? module)).toEqual(['/b', 'shop']);
  });

  it('stays one line of JSON without control characters, whatever the client sends', async () => {
    const written: string[] = [];
    const { logger } = memoryLog('info', (line) => written.push(line));
    const nasty = '"}\\\u001b[31m\u009b31m\u007f\u0085{"level":"fatal"';
    await using server = await listening(createServer(loggedApp(logger, throwing(new BadRequestException(nasty)))));
    const answers = await Promise.all([
      sendRaw(
        server.port,
        `GET /${nasty.replace('\u001b', '')}?a=%0d%0a%1b HTTP/1.1\r\nHost: a\r\nUser-Agent: ${nasty.slice(0, 3)}\u009b31m\r\nX-Request-Id: a%0d%0ab\r\nConnection: close\r\n\r\n`,
      ),
      sendRaw(
        server.port,
        'GET /x HTTP/1.1\r\nHost: a\r\nUser-Agent: b\r\n {"level":"fatal"}\r\nConnection: close\r\n\r\n',
      ),
      sendRaw(
        server.port,
        'GET /x HTTP/1.1\r\nHost: a\r\nUser-Agent: b\n{"level":"fatal"}: c\r\nConnection: close\r\n\r\n',
      ),
    ]);
    expect(answers.map((text) => text.slice(0, 12))).toEqual(Array(3).fill('HTTP/1.1 400'));
    logger.warn({ nasty: '\u2028\u2029\r\n', url: nasty }, `${nasty}\r\n\u2028`);
    for (const line of written) {
      expect(line).toMatch(/^\{[^\p{Cc}\p{Zl}\p{Zp}]+\}\n$/u);
      expect(JSON.parse(line).level).toMatch(/^(info|warn)$/);
    }
    expect(JSON.parse(written.at(-1) ?? '').msg).toBe(`${nasty}\r\n\u2028`);
  });
});
