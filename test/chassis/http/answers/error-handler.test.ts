import { createServer } from 'node:http';
import { connect } from 'node:net';
import express from 'express';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import {
  BadRequestException,
  ConflictException,
  ServiceUnavailableException,
} from '../../../../src/chassis/errors/exceptions.ts';
import type { Reporter } from '../../../../src/chassis/errors/reporters/reporter.ts';
import { compressResponses } from '../../../../src/chassis/http/answers/compress-responses.ts';
import { errorHandler } from '../../../../src/chassis/http/answers/error-handler.ts';
import { requestPipeline } from '../../../../src/chassis/http/pipeline/request-pipeline.ts';
import { bareApp, memoryLog, throwing } from '../bare-app.ts';
import { listening } from '../listening.ts';

describe('errorHandler', () => {
  it('answers an exception with its status and the one body', async () => {
    const response = await request(bareApp([throwing(new ConflictException('taken', { field: 'sku' }))])).get('/');
    expect(response.status).toBe(409);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(response.headers['cache-control']).toBe('no-store');
    expect(response.body).toEqual({
      success: false,
      message: 'taken',
      statusCode: 409,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      details: { field: 'sku' },
    });
  });

  it.each([['a string'], [42], [{ statusCode: 200 }], [Symbol('s')]])(
    'answers the thrown value %s with 500',
    async (value) => {
      const response = await request(bareApp([throwing(value)], { production: true })).get('/');
      expect(response.status).toBe(500);
      expect(response.body).toMatchObject({ success: false, message: 'Internal Server Error', statusCode: 500 });
    },
  );

  it('sends the headers of the exception and none that a success would have had', async () => {
    const app = bareApp([
      (_req, res) => {
        res.setHeader('Location', '/x');
        res.setHeader('ETag', 'W/"1"');
        throw new ServiceUnavailableException('busy', undefined, { headers: { 'Retry-After': '3' } });
      },
    ]);
    const { headers } = await request(app).get('/');
    expect(headers['retry-after']).toBe('3');
    expect(headers).not.toHaveProperty('location');
    expect(headers).not.toHaveProperty('etag');
  });

  it('puts the fields of the request on the context of the exception, with secrets of the URL masked', async () => {
    const exception = new BadRequestException('x', undefined, { context: { operation: 'op' } });
    await request(bareApp([requestPipeline(), throwing(exception)]))
      .get('/a?b=1&token=secret')
      .set({ 'user-agent': 'test', 'x-request-id': 'r-1' });
    expect(exception.context).toEqual({
      operation: 'op',
      requestId: 'r-1',
      method: 'GET',
      url: '/a?b=1&token=[redacted]',
      userAgent: 'test',
      ipAddress: expect.stringContaining('127.0.0.1'),
    });
  });

  it('answers an exception that is frozen', async () => {
    const exception = Object.freeze(new BadRequestException('fixed'));
    const response = await request(bareApp([throwing(exception)])).get('/');
    expect(response.body.message).toBe('fixed');
  });

  it('logs by itself where no reporters are given', async () => {
    const { logger, lines } = memoryLog();
    const app = express().use(throwing(new Error('the root')), errorHandler({ logger, production: false }));
    await request(app).get('/');
    expect(lines).toMatchObject([{ level: 'error', method: 'GET', url: '/', msg: 'the root' }]);
  });

  it('hands every reporter the exception and the request context', async () => {
    const reports: unknown[] = [];
    const reporter: Reporter = { report: (...values) => void reports.push(values) };
    const exception = new BadRequestException();
    await request(bareApp([requestPipeline(), throwing(exception)], { reporters: [reporter, reporter] })).get('/p');
    expect(reports).toHaveLength(2);
    expect(reports[0]).toEqual([exception, expect.objectContaining({ method: 'GET', url: '/p' })]);
  });

  it('gives the same response when reporters throw or reject, and still asks the others', async () => {
    const { logger, lines } = memoryLog();
    let asked = 0;
    const reporters: Reporter[] = [
      { report: throwing(new Error('broken')) as never },
      {
        report: (async () => {
          throw new Error('broken later');
        }) as never,
      },
      { report: () => void asked++ },
    ];
    const response = await request(bareApp([throwing(new ConflictException())], { logger, reporters })).get('/');
    expect(response.status).toBe(409);
    expect(asked).toBe(1);
    expect(lines.map(({ msg }) => msg)).toEqual(['reporter failed', 'reporter failed']);
  });

  it('falls back to a plain 500 when the error cannot be rendered', async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const badHeader = { headers: { 'X-A': 'a\nb' } };
    for (const exception of [new BadRequestException('x', cyclic), new BadRequestException('x', 1, badHeader)]) {
      const response = await request(bareApp([throwing(exception)])).get('/');
      expect(response.status).toBe(500);
      expect(response.body).toMatchObject({ success: false, message: 'Internal Server Error', statusCode: 500 });
    }
  });

  it('cuts the connection when the answer has begun', async () => {
    const app = bareApp([
      (_req, res) => {
        res.write('half');
        throw new Error('late');
      },
    ]);
    await expect(request(app).get('/')).rejects.toThrow(/aborted|socket hang up|ECONNRESET/);
  });

  it('leaves an answer alone that was complete', async () => {
    const app = bareApp([
      (_req, res) => {
        res.end('whole');
        throw new Error('late');
      },
    ]);
    expect((await request(app).get('/')).text).toBe('whole');
  });

  it('answers in the one body also where the client accepts compression', async () => {
    const details = { text: 'x'.repeat(5_000) };
    const app = bareApp([compressResponses(), throwing(new BadRequestException('x', details))]);
    const response = await request(app).get('/').set('accept-encoding', 'gzip');
    expect(response.headers['content-encoding']).toBe('gzip');
    expect(response.body.details).toEqual(details);
  });

  it('survives a client that goes away', async () => {
    const reported = Promise.withResolvers<number>();
    const gone = Promise.withResolvers<void>();
    const app = bareApp(
      [
        async (req) => {
          req.on('close', () => gone.resolve());
          await gone.promise;
          throw new Error('too late');
        },
      ],
      { reporters: [{ report: ({ statusCode }) => reported.resolve(statusCode) }] },
    );
    await using server = await listening(createServer(app));
    const socket = connect(server.port, '127.0.0.1', () => {
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n', () => socket.destroy());
    });
    expect(await reported.promise).toBe(500);
  });
});
