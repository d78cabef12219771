import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { describe, expect, it } from 'vitest';
import { type BaseException, RequestAbandonedException } from '../../../../src/chassis/errors/exceptions.ts';
import { noAnswerHeaders } from '../../../../src/chassis/http/answers/answer-headers.ts';
import { answerClientErrors, refuseTunnels } from '../../../../src/chassis/http/answers/client-error.ts';
import { asyncHandler } from '../../../../src/chassis/http/pipeline/middleware.ts';
import { requestSignal } from '../../../../src/chassis/http/pipeline/request-context-of.ts';
import { requestPipeline } from '../../../../src/chassis/http/pipeline/request-pipeline.ts';
import { connectionCutter } from '../../../../src/chassis/lifecycle/cut-connections.ts';
import { bareApp, memoryLog } from '../bare-app.ts';
import { listening } from '../listening.ts';

describe('errorHandler', () => {
  it.each([
    ['a stream whose first byte is still to come', (_req: Request, res: Response) => pipeline(new PassThrough(), res)],
    [
      'a stream with the signal of the request',
      ({ signal }: Request, res: Response) => pipeline(new PassThrough(), res, { signal }),
    ],
    ['a wait that ends with the signal of the request', ({ signal }: Request) => wait(60_000, undefined, { signal })],
    [
      'a stream both of whose ends tell of it',
      async (_req: Request, res: Response) => {
        await once(res, 'close');
        const early = Object.assign(new Error('early'), { code: 'ERR_STREAM_PREMATURE_CLOSE' });
        throw new AggregateError([new RequestAbandonedException('gone'), early]);
      },
    ],
  ])('takes %s for abandoned, not for a fault, when the client goes away', async (_what, work) => {
    const reported = Promise.withResolvers<BaseException>();
    const begun = Promise.withResolvers<void>();
    const app = bareApp(
      [
        requestPipeline(),
        asyncHandler((req, res) => {
          begun.resolve();
          return work(req, res);
        }),
      ],
      { reporters: [{ report: reported.resolve }] },
    );
    requestSignal(app);
    await using server = await listening(createServer(app));
    const socket = connect(server.port, '127.0.0.1').end('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await begun.promise;
    socket.destroy();
    expect(await reported.promise).toMatchObject({ statusCode: 499, isOperational: true });
  });

  it.each([
    ['sends what is no HTTP', 'nonsense\r\n\r\n'],
    ['asks for a tunnel', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['is cut', 'GET /cut HTTP/1.1\r\nHost: a\r\n\r\n'],
  ])('takes a stream under way for abandoned, not for a fault, when its client %s', async (_what, next) => {
    const { logger } = memoryLog();
    const cut = connectionCutter({ logger, metrics: { cut: () => undefined } });
    const reported = Promise.withResolvers<BaseException>();
    const stream = asyncHandler((_req, res) => {
      const source = new PassThrough();
      source.write('begun');
      return pipeline(source, res);
    });
    const app = bareApp([requestPipeline(), stream], { reporters: [{ report: reported.resolve }] });
    const refusal = { headers: noAnswerHeaders, logger };
    const server = createServer(app)
      .on('clientError', answerClientErrors(refusal))
      .on('connect', refuseTunnels(refusal))
      .prependListener('request', ({ url, socket }) => url === '/cut' && cut(socket, 'stalled'));
    await using address = await listening(server);
    const client = connect(address.port, '127.0.0.1').on('error', () => undefined);
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(client, 'data');
    client.write(next);
    expect(await reported.promise).toMatchObject({ statusCode: 499, isOperational: true });
  });

  it('takes a stream that fails while its client waits for a fault', async () => {
    const reported = Promise.withResolvers<BaseException>();
    const source = new PassThrough();
    const app = bareApp([asyncHandler((_req, res) => pipeline(source, res))], {
      reporters: [{ report: reported.resolve }],
    });
    await using server = await listening(createServer(app));
    source.destroy();
    const asked = fetch(`http://127.0.0.1:${server.port}`).catch((error: Error) => error);
    expect(await reported.promise).toMatchObject({ statusCode: 500, isOperational: false });
    expect(await asked).toBeInstanceOf(Error);
  });
});
