import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Request, RequestHandler, Response } from 'express';
import request from 'supertest';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { BaseException } from '../../../../src/chassis/errors/exceptions.ts';
import { compressResponses } from '../../../../src/chassis/http/answers/compress-responses.ts';
import { sendData } from '../../../../src/chassis/http/answers/responses.ts';
import { bareApp } from '../bare-app.ts';
import { listening } from '../listening.ts';

const app = bareApp([compressResponses(), (req, res) => sendData(res, 200, 'x'.repeat(Number(req.query.length)))]);

const asText: RequestHandler = (_req, res, next) => {
  res.type('text/plain');
  next();
};

/** A server of one streamed answer, and a client that takes what comes of it, compressed. */
async function streamed(step: (req: Request, res: Response) => unknown, options: object = {}) {
  const server = await listening(createServer(bareApp([compressResponses(), asText, step], options)));
  onTestFinished(() => server[Symbol.asyncDispose]());
  const asked = get({ port: server.port, host: '127.0.0.1', headers: { 'accept-encoding': 'gzip' } });
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  expect(answer.headers['content-encoding']).toBe('gzip');
  return answer;
}

describe('a streamed answer', () => {
  it('sends its first piece before the next is written', async () => {
    let response: Response | undefined;
    const answer = await streamed((_req, res) => {
      response = res;
      res.write('first');
    });
    const pieces = answer.pipe(createGunzip()).setEncoding('utf8');
    expect(await once(pieces, 'data')).toEqual(['first']);
    response?.write('second');
    expect(await once(pieces, 'data')).toEqual(['second']);
    response?.end();
    await once(pieces, 'end');
  });

  it('keeps no listener that was removed', async () => {
    const warnings: Error[] = [];
    const keep = (warning: Error) => void warnings.push(warning);
    process.on('warning', keep);
    const answer = await streamed(async (_req, res) => {
      for (let piece = 0; piece < 40; piece += 1) if (!res.write(randomBytes(100_000))) await once(res, 'drain');
      res.end();
    });
    let bytes = 0;
    for await (const piece of answer.pipe(createGunzip())) bytes += (piece as Buffer).length;
    process.off('warning', keep);
    expect([bytes, warnings]).toEqual([4_000_000, []]);
  });

  it('warns of no listeners and sends its first bytes at once when a stream is piped into it', async () => {
    const warnings: Error[] = [];
    const keep = (warning: Error) => void warnings.push(warning);
    process.on('warning', keep);
    const more = Promise.withResolvers<void>();
    const answer = await streamed((_req, res) => {
      Readable.from(
        (async function* pieces() {
          yield 'first';
          await more.promise;
          for (let piece = 0; piece < 40; piece += 1) yield randomBytes(100_000);
        })(),
      ).pipe(res);
    });
    const pieces = answer.pipe(createGunzip());
    expect(String(await once(pieces, 'data'))).toBe('first');
    more.resolve();
    let bytes = 0;
    for await (const piece of pieces) bytes += (piece as Buffer).length;
    process.off('warning', keep);
    expect([bytes, warnings]).toEqual([4_000_000, []]);
  });

  it('that its client leaves in the middle is no fault', async () => {
    const { promise, resolve } = Promise.withResolvers<BaseException>();
    const answer = await streamed(
      async (_req, res) => {
        await pipeline(Readable.from(endless()), res);
      },
      { reporters: [{ report: resolve }] },
    );
    await once(answer, 'data');
    answer.destroy();
    expect(await promise).toMatchObject({ statusCode: 499, isOperational: true });
  });
});

function* endless() {
  for (;;) yield randomBytes(50_000);
}

describe('compressResponses', () => {
  it.each(['gzip', 'br'])('compresses large bodies with %s for clients that accept it', async (encoding) => {
    const response = await request(app)
      .get('/?length=5000')
      .set('accept-encoding', encoding)
      .buffer(true)
      .parse(ignore);
    expect(response.headers['content-encoding']).toBe(encoding);
    expect(response.headers.vary).toBe('Accept-Encoding');
  });

  it('leaves small bodies as they are, with their length', async () => {
    const { headers } = await request(app).get('/?length=10').set('accept-encoding', 'gzip');
    expect(headers).not.toHaveProperty('content-encoding');
    expect(headers['content-length']).toBe('36');
  });

  it('leaves the bodies of clients that name no encoding as they are', async () => {
    const { headers, body } = await request(app).get('/?length=5000').unset('accept-encoding');
    expect(body.data).toHaveLength(5_000);
    expect(headers).not.toHaveProperty('content-encoding');
  });

  it('leaves them so where more encodings are named than any client knows, which takes long to read', async () => {
    const named = (count: number) => `${'a,'.repeat(count)}gzip`;
    const few = await request(app).get('/?length=5000').set('accept-encoding', named(100));
    const many = await request(app).get('/?length=5000').set('accept-encoding', named(1000));
    expect([few, many].map(({ headers }) => headers['content-encoding'])).toEqual(['gzip', undefined]);
  });
});

describe('compression that takes more than its budget', () => {
  it('is left out, for as long as responses that are being compressed hold it, and whatever their length one is', async () => {
    const open = Promise.withResolvers<Response>();
    const steps: RequestHandler = (req, res) => {
      if (req.path !== '/open') return sendData(res, 200, 'x'.repeat(200_000));
      open.resolve(res.type('text/plain'));
      res.write('first');
    };
    const server = await budgeted(500_000, steps);
    const encodingOf = async (path: string) => {
      const answer = await fetch(`http://127.0.0.1:${server.port}${path}`);
      const { headers } = answer;
      if (path !== '/open') expect(((await answer.json()) as { data: string }).data).toHaveLength(200_000);
      return [headers.get('content-encoding'), headers.get('vary')];
    };
    expect(await encodingOf('/long')).toEqual(['gzip', 'Accept-Encoding']);
    expect(await encodingOf('/open')).toEqual(['gzip', 'Accept-Encoding']);
    expect(await encodingOf('/long')).toEqual([null, 'Accept-Encoding']);
    const response = await open.promise;
    response.destroy();
    await expect.poll(() => encodingOf('/long')).toEqual(['gzip', 'Accept-Encoding']);
  });
});

describe('a response that is not compressed', () => {
  it('holds nothing of the budget, such as a stream of events', async () => {
    const events: RequestHandler = (req, res) => {
      if (req.path !== '/events') return sendData(res, 200, 'x'.repeat(5_000));
      res.type('text/event-stream').setHeader('Cache-Control', 'no-cache, no-transform');
      res.write('data: first\n\n');
    };
    const server = await budgeted(1, events);
    const [stream, answer] = [
      await fetch(`http://127.0.0.1:${server.port}/events`),
      await fetch(`http://127.0.0.1:${server.port}/list`),
    ];
    expect([stream, answer].map(({ headers }) => headers.get('content-encoding'))).toEqual([null, 'gzip']);
    await stream.body?.cancel();
  });
});

describe('a response whose length is not known', () => {
  const endless: RequestHandler = (_req, res) => void res.type('text/csv').write('a,b\n');
  const ask = (port: number, encoding: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const asked = get({ port, host: '127.0.0.1', headers: { 'accept-encoding': encoding } }, resolve);
      asked.on('error', reject);
      onTestFinished(() => void asked.destroy());
    });

  it('counts with what a compressor takes in the end', async () => {
    const { port } = await budgeted(3_500_000, endless);
    const encodings: unknown[] = [];
    for (let index = 0; index < 5; index += 1) {
      const { headers } = await ask(port, 'gzip');
      encodings.push(headers['content-encoding']);
    }
    expect(encodings).toEqual(['gzip', 'gzip', 'gzip', undefined, undefined]);
  });

  it('has brotli look back for 64 KB, where its default is 4 MB', async () => {
    const { port } = await budgeted(3_500_000, endless);
    const [first] = (await once(await ask(port, 'br'), 'data')) as [Buffer];
    // RFC 7932, 9.1: a stream whose first bit is 0 has a window of 16 bits.
    expect((first[0] as number) & 1).toBe(0);
  });
});

async function budgeted(budgetBytes: number, step: RequestHandler) {
  const server = await listening(createServer(bareApp([compressResponses({ budgetBytes }), step])));
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

/** superagent reads no brotli; only the headers matter here. */
function ignore(res: request.Response, done: (error: Error | null, body: unknown) => void): void {
  const stream = res as unknown as NodeJS.ReadableStream;
  stream.resume().on('end', () => done(null, ''));
}
