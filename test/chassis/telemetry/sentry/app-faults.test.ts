import { join } from 'node:path';
import { flush } from '@sentry/node';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { type SentryEvent, SentryIngest } from '../../../../src/chassis/testing/sentry-ingest.ts';
import { bootTestApp } from '../../../support/boot-test-app.ts';
import { recordingLogger } from '../../../support/log-lines.ts';

const ingest = await SentryIngest.start();
afterAll(() => ingest[Symbol.asyncDispose]());
const { logger, lines } = recordingLogger();
const app = await bootTestApp({
  logger,
  modulesDirectory: join(import.meta.dirname, '../../../fixtures/modules'),
  env: { SENTRY_DSN: ingest.dsn, SENTRY_RELEASE: 'slipway@tests' },
  configure: (config) => ({ ...config, modules: [{ name: 'faults', enabled: true, routesPrefix: '/faults' }] }),
});

/** What the ingest got for one request. */
async function eventsOf(send: () => PromiseLike<unknown>): Promise<SentryEvent[]> {
  const before = ingest.events.length;
  await send();
  await flush(5_000);
  return ingest.events.slice(before);
}

/** The one event of one request. */
async function eventOf(send: () => PromiseLike<unknown>): Promise<SentryEvent> {
  const events = await eventsOf(send);
  expect(events).toHaveLength(1);
  return events[0]!;
}

function isNoRate(frame: { function: string }): boolean {
  return frame.function === 'noRate';
}

describe('a fault of a request in Sentry', () => {
  it('is one event for each of 50 at the same time, with request, user and trace of its own', async () => {
    const before = ingest.events.length;
    const numbers = Array.from({ length: 50 }, (_, index) => String(index + 1).padStart(2, '0'));
    const headers = (n: string) => ({
      'X-Request-Id': `request-${n}`,
      'X-User': `user-${n}`,
      traceparent: `00-${n.repeat(16)}-${n.repeat(8)}-01`,
    });
    await Promise.all(
      numbers.map((n) => app.send((server) => server.get(`/faults/items/${n}`).set(headers(n))).expectError(500, /./)),
    );
    await ingest.received(before + 50);
    await flush(5_000);
    const events = ingest.events.slice(before).toSorted((a, b) => (a.user!.id! < b.user!.id! ? -1 : 1));
    expect(events.map(({ tags, user, contexts }) => [tags.request_id, user, contexts.trace])).toEqual(
      numbers.map((n) => [`request-${n}`, { id: `user-${n}` }, { trace_id: n.repeat(16), span_id: n.repeat(8) }]),
    );
    expect(events.map((event) => event.contexts.request_context)).toEqual(
      numbers.map((n) => expect.objectContaining({ requestId: `request-${n}`, url: `/faults/items/${n}` })),
    );
    expect(events.map((event) => event.exception.values.map(({ value }) => value))).toEqual(
      numbers.map((n) => [`item ${n} is broken`]),
    );
    expect(new Set(events.map((event) => JSON.stringify(event.fingerprint)))).toHaveProperty('size', 1);
  });

  it('names route, status, release, environment and host', async () => {
    const event = await eventOf(() => app.get('/faults/items/7'));
    expect(event).toMatchObject({
      level: 'error',
      release: 'slipway@tests',
      environment: 'test',
      server_name: expect.stringMatching(/./),
      transaction: 'GET /faults/items/:id',
      tags: { method: 'GET', route: '/faults/items/:id', status: 500 },
      contexts: { response: { status_code: 500 } },
      request: { method: 'GET', url: '/faults/items/7' },
    });
  });

  it('shows the chain of causes, each with its own frames once', async () => {
    const { exception } = await eventOf(() => app.get('/faults/chain'));
    expect(exception.values.map(({ type, value }) => `${type}: ${value}`)).toEqual([
      'TypeError: rate is undefined',
      'RangeError: no rate for xyz',
      'InternalServerErrorException: cannot price',
    ]);
    for (const { stacktrace } of exception.values) {
      const frames = stacktrace!.frames;
      expect(frames.at(-1)).toMatchObject({ filename: expect.stringMatching(/faults\.routes\.ts$/), in_app: true });
    }
    const inNoRate = exception.values.map(({ stacktrace }) => stacktrace!.frames.filter(isNoRate).length);
    expect(inNoRate).toEqual([1, 1, 0]);
    expect(exception.values[0]?.stacktrace?.frames.at(-1)).toMatchObject({
      function: 'noRate',
      context_line: expect.stringContaining('new TypeError('),
    });
  });

  it('is grouped by the classes of the chain, the place and the route', async () => {
    const [item, chain, bug] = [
      await eventOf(() => app.get('/faults/items/1')),
      await eventOf(() => app.get('/faults/chain')),
      await eventOf(() => app.get('/faults/bug')),
    ];
    expect(item.fingerprint[0]).toBe('InternalServerErrorException');
    expect(item.fingerprint[2]).toBe('GET /faults/items/:id');
    expect(chain.fingerprint).toEqual([
      'InternalServerErrorException < RangeError < TypeError',
      'faults/faults.routes.ts noRate',
      'GET /faults/chain',
    ]);
    expect(bug.fingerprint[0]).toBe('TypeError');
  });

  it('is titled by the bug itself, not by the exception that the answer was made of', async () => {
    const { exception, contexts } = await eventOf(() => app.get('/faults/bug'));
    expect(exception.values.map(({ type, value }) => `${type}: ${value}`)).toEqual([
      'TypeError: undefined is not a function',
    ]);
    expect(exception.values[0]?.stacktrace?.frames.at(-1)?.filename).toMatch(/faults\.routes\.ts$/);
    expect(contexts.response).toEqual({ status_code: 500 });
  });

  it('carries neither body, cookies, authorization, details nor the address of the client', async () => {
    const { contexts, request } = await eventOf(() =>
      app.send((server) =>
        server
          .post('/faults/items?access_token=query-secret&page=1')
          .set({
            Authorization: 'Bearer header-secret',
            Cookie: 'session=cookie-secret',
            'X-Forwarded-For': '203.0.113.9',
          })
          .set('User-Agent', 'the client')
          .send({ name: 'in the body', password: 'body-secret' }),
      ),
    );
    expect(request).toEqual({
      method: 'POST',
      url: '/faults/items?access_token=[Filtered]&page=1',
      headers: { 'user-agent': 'the client' },
    });
    expect(contexts.operation).toEqual({ table: 'items', apiToken: '[redacted]' });
    expect(ingest.envelopes.at(-1)).not.toMatch(
      /(query|header|cookie|body|context)-secret|in the body|203\.0\.113\.9|127\.0\.0\.1"/,
    );
  });

  it('has secrets in its messages masked, and frames that no line of a message was taken for', async () => {
    const { exception } = await eventOf(() => app.get('/faults/messages'));
    expect(exception.values.map(({ value }) => value)).toEqual([
      'GET https://api.example/rates?base=eur&api_key=[redacted] failed: Bearer [redacted]',
      'look at\n    it: postgresql://[redacted]@db/app',
    ]);
    expect(exception.values[1]?.stacktrace?.frames.at(-1)?.filename).toMatch(/faults\.routes\.ts$/);
  });

  it('shows a thrown value that is no error', async () => {
    const { contexts } = await eventOf(() => app.get('/faults/text'));
    expect(contexts.thrown).toEqual({ value: 'only a text' });
  });

  it('is an event for each request, where one error fails many', async () => {
    const events = await eventsOf(() => Promise.all([app.get('/faults/shared'), app.get('/faults/shared')]));
    expect(new Set(events.map(({ tags }) => tags.request_id))).toHaveProperty('size', 2);
  });

  it.each(['missing', 'operational', 'odd', 'no-such-route'])('is not what answers /%s', async (path) => {
    expect(await eventsOf(() => app.get(`/faults/${path}`))).toEqual([]);
  });

  it('is a query that does not fit the models, which answers 500', async () => {
    const event = await eventOf(() => app.get('/faults/unfitting').expectError(500, /./));
    expect(event.exception.values.map(({ type }) => type)).toContain('PrismaClientValidationError');
    expect(event.tags).toMatchObject({ status: 500, route: '/faults/unfitting' });
  });

  it('is not a value that a CHECK of the database refuses, which answers 409', async () => {
    expect(await eventsOf(() => app.get('/faults/check').expectError(409, /./))).toEqual([]);
  });

  it('is not a download whose client goes away, which is no error in log and metrics either, nor warns of listeners', async () => {
    const warnings: Error[] = [];
    const remember = (warning: Error) => warnings.push(warning);
    process.on('warning', remember);
    onTestFinished(() => void process.off('warning', remember));
    const count = async (name: string) => {
      const { text } = await app.internal.get('/metrics');
      return [...text.matchAll(new RegExp(`^${name} (\\d+)`, 'gm'))].reduce((sum, [, value]) => sum + Number(value), 0);
    };
    const errors = String.raw`exceptions_total\{exception="\w+",status="5\d\d"\}`;
    const before = await count(errors);
    lines.length = 0;
    const events = await eventsOf(async () => {
      const abort = new AbortController();
      const { body } = await fetch(`${app.url}/faults/download`, { signal: abort.signal });
      await body?.getReader().read();
      abort.abort();
      await expect.poll(() => lines.some(({ msg }) => msg === 'request aborted')).toBe(true);
    });
    expect(events).toEqual([]);
    expect(await count(errors)).toBe(before);
    expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
    expect(warnings).toEqual([]);
  });

  it('is not a body that cannot be read', async () => {
    const send = () => app.send((server) => server.post('/faults/items').type('json').send('{"a":'));
    expect(await eventsOf(send)).toEqual([]);
  });

  it('delays no response where the ingest never answers', async () => {
    ingest.answer = 'never';
    const contacted = ingest.contacted();
    const started = performance.now();
    await Promise.all(Array.from({ length: 30 }, (_, n) => app.get(`/faults/items/${n}`).expectError(500, /broken/)));
    await contacted;
    expect(performance.now() - started).toBeLessThan(4_000);
  });
});
