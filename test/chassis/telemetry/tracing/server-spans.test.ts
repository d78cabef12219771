import { once } from 'node:events';
import { connect } from 'node:net';
import { trace } from '@opentelemetry/api';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { getRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { InternalServerErrorException, NotFoundException } from '../../../../src/chassis/errors/exceptions.ts';
import { noteArrival } from '../../../../src/chassis/http/pipeline/request-context-of.ts';
import { fakeCollector } from '../../../../src/chassis/testing/fake-collector.ts';
import { exportingSettings } from '../../../support/exporting-settings.ts';
import { headersEcho, tracedApp } from './traced-app.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

describe('a server span', () => {
  it('follows the conventions for HTTP and is named after the route', async () => {
    const collector = await fakeCollector();
    const { url } = await tracedApp(exportingSettings(collector.url), (_req, res) => {
      Object.assign(getRequestContext() as object, { userId: 'u1' });
      res.json({});
    });
    await fetch(`${url}/things/7?token=t&page=2`, {
      headers: { 'user-agent': 'tester', traceparent: `00-${traceId}-${spanId}-01`, tracestate: 'a=b' },
    });
    await collector.until(() => collector.spans.length > 0);
    expect(collector.spans).toHaveLength(1);
    expect(collector.spans[0]).toMatchObject({
      name: 'GET /api/things/:id',
      service: 'slipway',
      kind: 2,
      traceId,
      parentSpanId: spanId,
      traceState: 'a=b',
      status: { code: 0 },
      events: [],
    });
    expect(collector.spans[0]?.attributes).toEqual({
      'http.request.method': 'GET',
      'url.path': '/things/7',
      'url.query': 'token=[redacted]&page=2',
      'url.scheme': 'http',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(url).port),
      'network.protocol.version': '1.1',
      'user_agent.original': 'tester',
      'http.route': '/api/things/:id',
      'http.response.status_code': 200,
      'user.id': 'u1',
    });
  });

  it('begins when the request came, though that waited before it began', async () => {
    const collector = await fakeCollector();
    const settings = exportingSettings(collector.url);
    const { url } = await tracedApp(
      settings,
      (_req, res) => void res.json({}),
      undefined,
      (req, _res, next) => {
        noteArrival(req, performance.now() - 300);
        next();
      },
    );
    await fetch(`${url}/things/1`);
    await collector.until(() => collector.spans.length > 0);
    const [span] = collector.spans;
    const tookMs = (Number(span?.endTimeUnixNano) - Number(span?.startTimeUnixNano)) / 1e6;
    expect(tookMs).toBeGreaterThanOrEqual(299);
  });

  it('holds nothing of a host or of a state that is longer than any may be', async () => {
    const collector = await fakeCollector();
    const { url } = await tracedApp(exportingSettings(collector.url), (_req, res) => void res.json({}));
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const state = `traceparent: 00-${traceId}-${spanId}-01\r\ntracestate: a=${'b'.repeat(7_000)}\r\n`;
    socket.end(`GET /things/1 HTTP/1.1\r\nHost: ${'h'.repeat(7_000)}\r\n${state}\r\n`);
    await collector.until(() => collector.spans.length > 0);
    expect(collector.spans[0]).toMatchObject({ traceId, parentSpanId: spanId });
    expect(collector.spans[0]?.attributes).not.toHaveProperty('server.address');
    expect(JSON.stringify(collector.spans).length).toBeLessThan(2_000);
  });

  it('holds no token that a client sends as the name of a host', async () => {
    const collector = await fakeCollector();
    const { url } = await tracedApp(exportingSettings(collector.url), (_req, res) => void res.json({}));
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.end('GET /things/1 HTTP/1.1\r\nHost: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl:80\r\n\r\n');
    await collector.until(() => collector.spans.length > 0);
    expect(collector.spans[0]?.attributes).toMatchObject({ 'server.address': '[redacted]', 'server.port': 80 });
  });

  it('is made of no probe, which has ids all the same', async () => {
    const collector = await fakeCollector();
    const { url } = await tracedApp(exportingSettings(collector.url), (_req, res) => void res.json({}));
    for (const path of ['/livez', '/readyz']) await fetch(`${url}${path}`);
    await fetch(`${url}/things/1`);
    await collector.until(() => collector.spans.length > 0);
    expect(collector.spans.map(({ name }) => name)).toEqual(['GET /api/things/:id']);
  });

  it('is sent with the headers that the collector wants', async () => {
    const collector = await fakeCollector();
    const headers = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20key%3D1,x-team=shop' };
    const { url } = await tracedApp(exportingSettings(collector.url, headers), (_req, res) => void res.json({}));
    await fetch(`${url}/things/1`);
    await collector.until(() => collector.spans.length > 0);
    expect(collector.headers.at(-1)).toMatchObject({ authorization: 'Bearer key=1', 'x-team': 'shop' });
  });

  it('is active in the handler and agrees with the request context', async () => {
    const collector = await fakeCollector();
    const { url } = await tracedApp(exportingSettings(collector.url), async (_req, res) => {
      await new Promise((resolve) => setImmediate(resolve));
      res.json({ active: trace.getActiveSpan()?.spanContext(), context: getRequestContext() });
    });
    const { body } = await request(url).get('/things/1');
    const { active, context } = body;
    expect(active).toMatchObject({ traceId: context.traceId, spanId: context.spanId, traceFlags: 1 });
    await collector.until(() => collector.spans.length > 0);
    expect(collector.spans[0]).toMatchObject({ traceId: context.traceId, spanId: context.spanId });
  });

  it('is an error with status 500 and above only, and records the exception with its cause', async () => {
    const collector = await fakeCollector();
    const { url } = await tracedApp(exportingSettings(collector.url), (req) => {
      if (req.params.id === 'none') throw new NotFoundException('no such thing');
      throw new InternalServerErrorException('broken', undefined, { cause: new TypeError('root') });
    });
    await fetch(`${url}/things/none`);
    await fetch(`${url}/things/broken`);
    await collector.until(() => collector.spans.length === 2);
    const [missing, broken] = collector.spans;
    expect(missing).toMatchObject({ status: { code: 0 }, attributes: { 'http.response.status_code': 404 } });
    expect(missing?.attributes).not.toHaveProperty('error.type');
    expect(missing?.events.map(({ attributes }) => attributes['exception.message'])).toEqual(['no such thing']);
    expect(broken).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': '500' } });
    expect(broken?.events).toMatchObject([
      {
        name: 'exception',
        attributes: { 'exception.type': 'InternalServerErrorException', 'exception.message': 'broken' },
      },
      { name: 'exception', attributes: { 'exception.type': 'TypeError', 'exception.stacktrace': expect.any(String) } },
    ]);
  });

  it('has the message of a refusal without a stack once', async () => {
    const collector = await fakeCollector();
    const { url } = await tracedApp(exportingSettings(collector.url), () => {
      throw new NotFoundException('no such thing', undefined, { stack: false });
    });
    await fetch(`${url}/things/1`);
    await collector.until(() => collector.spans.length === 1);
    const attributes = collector.spans[0]?.events[0]?.attributes;
    expect(attributes).toEqual({ 'exception.type': 'NotFoundException', 'exception.message': 'no such thing' });
  });

  it('holds no more than the beginning of a message that a client made long, and the frames behind it', async () => {
    const collector = await fakeCollector();
    const { url } = await tracedApp(exportingSettings(collector.url), () => {
      throw new NotFoundException(`no such thing: ${'x'.repeat(50_000)}`);
    });
    await fetch(`${url}/things/1`);
    await collector.until(() => collector.spans.length === 1);
    const attributes = collector.spans[0]?.events[0]?.attributes ?? {};
    expect(attributes['exception.message']).toMatch(/^no such thing: x{2033}… /);
    expect(attributes['exception.stacktrace']).toMatch(/x… .*\n {4}at .*server-spans\.test/s);
    expect(String(attributes['exception.stacktrace']).length).toBeLessThan(4_300);
  });

  it('records a bug as what was thrown, not as the exception that answers it', async () => {
    const collector = await fakeCollector();
    const { url } = await tracedApp(exportingSettings(collector.url), () => {
      throw new TypeError('x is undefined');
    });
    await fetch(`${url}/things/1`);
    await collector.until(() => collector.spans.length === 1);
    expect(collector.spans[0]?.events.map(({ attributes }) => attributes['exception.type'])).toEqual(['TypeError']);
  });

  it('has no name of a client: unknown methods and paths share one', async () => {
    const collector = await fakeCollector();
    const { url } = await tracedApp(exportingSettings(collector.url), (_req, res) => void res.end());
    await fetch(`${url}/nowhere/4711`);
    await fetch(`${url}/nowhere`, { method: 'MKCOL' });
    await collector.until(() => collector.spans.length === 2);
    expect(collector.spans.map(({ name }) => name)).toEqual(['GET', 'HTTP']);
    expect(collector.spans[1]?.attributes).toMatchObject({
      'http.request.method': '_OTHER',
      'http.request.method_original': 'MKCOL',
    });
  });

  it('says of a request whose client went away that it was aborted, and aborts its signal', async () => {
    const collector = await fakeCollector();
    const entered = Promise.withResolvers<AbortSignal | undefined>();
    const { url } = await tracedApp(exportingSettings(collector.url), () =>
      entered.resolve(getRequestContext()?.signal),
    );
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('GET /things/1 HTTP/1.1\r\nHost: a\r\n\r\n');
    const signal = (await entered.promise) as AbortSignal;
    expect(signal.aborted).toBe(false);
    const aborted = once(signal, 'abort');
    socket.destroy();
    await aborted;
    await collector.until(() => collector.spans.length === 1);
    expect(collector.spans[0]?.attributes).toMatchObject({ 'slipway.request.aborted': true });
    expect(collector.spans[0]?.attributes).not.toHaveProperty('http.response.status_code');
  });
});

describe('sampling', () => {
  it.each([
    ['follows a caller that does not record', 'parentbased_always_on', '00', []],
    ['follows a caller that records', 'parentbased_always_off', '01', ['GET /api/things/:id']],
    ['is the own decision with a sampler that has no parent', 'always_off', '01', []],
  ])('%s', async (_title, sampler, flags, names) => {
    const collector = await fakeCollector();
    const settings = exportingSettings(collector.url, { OTEL_TRACES_SAMPLER: sampler });
    const { url, telemetry } = await tracedApp(settings, (_req, res) => void res.json(getRequestContext()));
    const response = await fetch(`${url}/things/1`, { headers: { traceparent: `00-${traceId}-${spanId}-${flags}` } });
    expect(await response.json()).toMatchObject({ traceId, spanId: expect.stringMatching(/^[\da-f]{16}$/) });
    await telemetry.close();
    expect(collector.spans.map(({ name }) => name)).toEqual(names);
  });
});

describe('fetch inside a request', () => {
  it('has a client span and carries its ids, the baggage and the request id, each once', async () => {
    const [collector, echo] = [await fakeCollector(), await headersEcho()];
    const { url } = await tracedApp(exportingSettings(collector.url), async (_req, res) => {
      res.json(await (await fetch(`${echo}/echo?access_token=t`)).json());
    });
    const headers = { traceparent: `00-${traceId}-${spanId}-01`, baggage: 'tenant=a', 'x-request-id': 'r1' };
    const sent = await (await fetch(`${url}/things/1`, { headers })).json();
    await collector.until(() => collector.spans.length === 2);
    const server = collector.spans.find(({ kind }) => kind === 2);
    const client = collector.spans.find(({ kind }) => kind === 3);
    expect(client).toMatchObject({ name: 'GET', traceId, parentSpanId: server?.spanId });
    expect(client?.attributes['url.full']).toBe(`${echo}/echo?access_token=[redacted]`);
    expect(sent).toMatchObject({
      traceparent: [`00-${traceId}-${client?.spanId}-01`],
      baggage: ['tenant=a'],
      'x-request-id': ['r1'],
    });
  });
});
