import { createServer, get, IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import {
  AnswerHeaders,
  answerHeaders,
  answerPreflights,
  messagesOf,
} from '../../../../src/chassis/http/answers/answer-headers.ts';
import { requestPipeline } from '../../../../src/chassis/http/pipeline/request-pipeline.ts';
import { bareApp, echoBody } from '../bare-app.ts';
import { listening } from '../listening.ts';

function appWith(headers: AnswerHeaders, step = echoBody) {
  return bareApp([requestPipeline({ headers }), step]);
}

function headersFor(headers: AnswerHeaders, origin: string) {
  return request(appWith(headers))
    .get('/')
    .set('origin', origin)
    .then((answer) => answer.headers);
}

describe('AnswerHeaders', () => {
  const any = new AnswerHeaders({ origins: ['*'] });
  const listed = new AnswerHeaders({ origins: ['https://a.example', ' https://B.example/ '] });

  it('allow every origin with constant headers', async () => {
    const headers = await headersFor(any, 'https://x.example');
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['access-control-expose-headers']).toContain('X-Request-Id');
    expect(headers).not.toHaveProperty('vary');
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  });

  it.each(['https://a.example', 'https://b.example'])('allow %s of a list', async (origin) => {
    const headers = await headersFor(listed, origin);
    expect(headers['access-control-allow-origin']).toBe(origin);
    expect(headers['vary']).toBe('Origin');
  });

  it.each(['https://c.example', 'https://a.example.evil', 'null', '__proto__'])(
    'do not allow %s, which is not on the list',
    async (origin) => {
      const headers = await headersFor(listed, origin);
      expect(headers).not.toHaveProperty('access-control-allow-origin');
      expect(headers['vary']).toBe('Origin');
    },
  );

  it("are helmet's too where they are asked for", async () => {
    const { headers } = await request(appWith(new AnswerHeaders({ security: true }))).get('/');
    expect(headers).toMatchObject({
      'content-security-policy': expect.stringContaining("default-src 'self'"),
      'strict-transport-security': expect.stringContaining('max-age='),
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'SAMEORIGIN',
      'referrer-policy': 'no-referrer',
    });
  });

  it('stand on failures too, and on requests that the pipeline refuses', async () => {
    const app = appWith(new AnswerHeaders({ security: true }), () => {
      throw new Error('x');
    });
    for (const path of ['/', '/%zz']) {
      expect((await request(app).get(path)).headers['x-content-type-options']).toBe('nosniff');
    }
  });

  it('let a page set its own over them', async () => {
    const app = appWith(new AnswerHeaders({ security: true }), (_req, res) => {
      res.set('Content-Security-Policy', "script-src 'self'").send('page');
    });
    expect((await request(app).get('/')).headers['content-security-policy']).toBe("script-src 'self'");
  });
});

/** The head of an answer: each name with all of its values, and what the step gave. */
async function headOf(step: RequestHandler): Promise<Record<string, string[]>> {
  const headers = new AnswerHeaders({ security: true, others: { vary: 'Accept-Encoding' } });
  const app = appWith(headers, step);
  await using server = await listening(createServer(messagesOf(app, class extends IncomingMessage {}), app));
  const { promise, resolve, reject } = Promise.withResolvers<Record<string, string[]>>();
  get({ port: server.port, host: '127.0.0.1' }, (answer) => {
    resolve(answer.headersDistinct as Record<string, string[]>);
    answer.resume();
  }).on('error', reject);
  return await promise;
}

const removesOne: RequestHandler = (_req, res) => {
  res.removeHeader('X-Frame-Options');
  res.end();
};

describe('messagesOf', () => {
  const policy = "script-src 'self'";

  it('answers with the constant headers, each once', async () => {
    const head = await headOf((_req, res) => void res.end());
    expect(head).toMatchObject({ vary: ['Accept-Encoding'], 'x-frame-options': ['SAMEORIGIN'] });
    expect(Object.values(head).every((values) => values.length === 1)).toBe(true);
  });

  it.each<[string, RequestHandler, Record<string, string[] | undefined>]>([
    [
      'set',
      (_req, res) => void res.set('Content-Security-Policy', policy).end(),
      { 'content-security-policy': [policy] },
    ],
    ['added to', (_req, res) => void res.vary('Origin').end(), { vary: ['Accept-Encoding, Origin'] }],
    ['appended', (_req, res) => void res.appendHeader('vary', 'Cookie').end(), { vary: ['Accept-Encoding', 'Cookie'] }],
    ['removed', removesOne, { 'x-frame-options': undefined }],
    ['given to writeHead', (_req, res) => void res.writeHead(200, { Vary: '*' }).end(), { vary: ['*'] }],
    ['given to writeHead as a list', (_req, res) => void res.writeHead(200, ['Vary', '*']).end(), { vary: ['*'] }],
  ])('lets a handler have one of them %s, and keeps the others', async (_how, step, expected) => {
    const head = await headOf(step);
    for (const [name, values] of Object.entries(expected)) expect(head[name]).toEqual(values);
    expect(head['x-content-type-options']).toEqual(['nosniff']);
    expect(head['x-request-id']).toHaveLength(1);
  });

  it('shows them to a handler', async () => {
    let seen: unknown[] = [];
    await headOf((_req, res) => {
      const { vary } = res.getHeaders();
      seen = [res.get('Vary'), res.hasHeader('VARY'), vary, res.getHeaderNames().filter((name) => name === 'vary')];
      res.end();
      seen.push(res.getHeader('vary'));
    });
    expect(seen).toEqual(['Accept-Encoding', true, 'Accept-Encoding', ['vary'], 'Accept-Encoding']);
  });

  it('makes messages whose prototypes Express leaves as they are', async () => {
    const app = appWith(new AnswerHeaders({}), (req, res) => void res.json([req.path, req.app === app]));
    const before: unknown[] = [];
    const server = createServer(messagesOf(app, class extends IncomingMessage {}), (req, res) => {
      before.push(Object.getPrototypeOf(req) === app.request, Object.getPrototypeOf(res) === app.response);
      app(req, res);
    });
    await using address = await listening(server);
    expect((await request(`http://127.0.0.1:${address.port}`).get('/x')).body).toEqual(['/x', true]);
    expect(before).toEqual([true, true]);
  });
});

describe('answerHeaders', () => {
  it('are in the order of spec.md: cross-origin, security; and tell caches that compressed bytes differ', () => {
    const { list } = answerHeaders({ CORS_ORIGINS: ['https://a.example'] }, {}).of('https://a.example');
    const names = list.filter((_text, index) => index % 2 === 0);
    expect(names[0]).toBe('access-control-allow-origin');
    expect(names).toContain('content-security-policy');
    expect(list[list.indexOf('vary') + 1]).toBe('Origin, Accept-Encoding');
    expect(new Set(names).size).toBe(names.length);
  });
});

const open = bareApp([answerPreflights(['*']), echoBody]);
const listed = bareApp([answerPreflights(['https://a.example', ' https://B.example/ ']), echoBody]);

function preflight(app: typeof open, origin: string) {
  return request(app)
    .options('/x')
    .set({ origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'authorization' });
}

describe('answerPreflights', () => {
  it('answers a preflight of any origin', async () => {
    const { status, headers } = await preflight(open, 'https://x.example');
    expect(status).toBe(204);
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': expect.stringContaining('PUT'),
      'access-control-allow-headers': 'authorization',
      'access-control-max-age': '600',
      vary: 'Access-Control-Request-Headers',
    });
  });

  it.each(['https://a.example', 'https://b.example'])('answers the preflight of %s on the list', async (origin) => {
    const { status, headers } = await preflight(listed, origin);
    expect(status).toBe(204);
    expect(headers['access-control-allow-origin']).toBe(origin);
    expect(headers.vary).toBe('Origin, Access-Control-Request-Headers');
  });

  it.each(['https://c.example', 'https://a.example.evil', 'null'])('does not allow %s', async (origin) => {
    expect((await preflight(listed, origin)).headers).not.toHaveProperty('access-control-allow-origin');
  });

  it('refuses one that asks for more fields than a proxy takes in the head of an answer', async () => {
    const asking = (length: number) =>
      preflight(open, 'https://x.example').set('access-control-request-headers', 'x'.repeat(length));
    expect((await asking(1024)).headers['access-control-allow-headers']).toHaveLength(1024);
    const { status, headers, body } = await asking(1025);
    expect([status, body.statusCode]).toEqual([431, 431]);
    expect(headers).not.toHaveProperty('access-control-allow-headers');
  });

  it('lets an OPTIONS that is no preflight pass to the routes', async () => {
    expect((await request(open).options('/')).body).toEqual({ body: null });
  });
});
