import http from 'node:http';
import { json } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { fakeCollector } from '../../../../src/chassis/testing/fake-collector.ts';
import { exportingSettings } from '../../../support/exporting-settings.ts';
import { headersEcho, tracedApp } from './traced-app.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parent = `00-${traceId}-b7ad6b7169203331-01`;
const received = {
  traceparent: parent,
  baggage: 'tenant=a',
  'x-request-id': 'r1',
  'x-request-deadline': '4102444800000',
};

type Sent = Record<string, string[]>;

/** A call by node:http, as axios and the SDKs of clouds make it. */
function callByHttp(url: string, headers: http.OutgoingHttpHeaders = {}): Promise<Sent> {
  return new Promise((resolve, reject) => {
    http.get(url, { headers }, (answer) => resolve(json(answer) as Promise<Sent>)).on('error', reject);
  });
}

async function callByFetch(url: string): Promise<Sent> {
  return (await fetch(url)).json() as Promise<Sent>;
}

/** What a service sends on when it is called with `received`. */
async function sentOn(call: (url: string) => Promise<Sent>, variables: Record<string, string>, collectorUrl?: string) {
  const echo = await headersEcho();
  const settings = exportingSettings(collectorUrl, variables);
  const { url } = await tracedApp(settings, async (_req, res) => void res.json(await call(`${echo}/echo?token=t`)));
  return (await (await fetch(`${url}/things/1`, { headers: received })).json()) as Sent;
}

describe.each([
  ['node:http', callByHttp],
  ['fetch', callByFetch],
])('a request that is sent by %s', (_client, call) => {
  it('carries trace, baggage, request id and deadline to a host that is trusted', async () => {
    const all = Object.fromEntries(Object.entries(received).map(([name, value]) => [name, [value]]));
    expect(await sentOn(call, {})).toMatchObject(all);
  });

  it('carries the trace alone to one that is not', async () => {
    const sent = await sentOn(call, { OUTBOUND_TRUSTED_HOSTS: '.example.com' });
    expect(sent).toMatchObject({ traceparent: [parent] });
    for (const name of ['baggage', 'x-request-id', 'x-request-deadline']) expect(sent).not.toHaveProperty(name);
  });

  it('has a client span where spans are exported, and is part of its trace', async () => {
    const collector = await fakeCollector();
    const sent = await sentOn(call, { OUTBOUND_TRUSTED_HOSTS: 'none' }, collector.url);
    await collector.until(() => collector.spans.length === 2);
    const client = collector.spans.find(({ kind }) => kind === 3);
    expect(client).toMatchObject({
      name: 'GET',
      traceId,
      attributes: {
        'url.full': expect.stringMatching(/echo\?token=\[redacted\]$/),
        'server.address': '127.0.0.1',
        'http.response.status_code': 200,
      },
    });
    expect(sent).toMatchObject({ traceparent: [`00-${traceId}-${client?.spanId}-01`] });
    expect(sent).not.toHaveProperty('baggage');
  });

  it('carries the headers that OTEL_PROPAGATORS names', async () => {
    const collector = await fakeCollector();
    const sent = await sentOn(call, { OTEL_PROPAGATORS: 'tracecontext,b3' }, collector.url);
    expect(sent).toMatchObject({ b3: [expect.stringMatching(`^${traceId}-[\\da-f]{16}-1`)] });
    expect(sent).not.toHaveProperty('baggage');
  });
});

describe('a request that is sent', () => {
  it('keeps the headers that its caller set', async () => {
    const call = (url: string) => callByHttp(url, { 'X-Request-Id': 'own', traceparent: 'own' });
    expect(await sentOn(call, {})).toMatchObject({ 'x-request-id': ['own'], traceparent: ['own'] });
  });

  it('and gets no answer has a span that says why', async () => {
    const collector = await fakeCollector();
    const settings = exportingSettings(collector.url);
    const { url } = await tracedApp(settings, async (_req, res) => {
      await callByHttp('http://127.0.0.1:1/').catch(() => undefined);
      res.end();
    });
    await fetch(`${url}/things/1`);
    await collector.until(() => collector.spans.length === 2);
    expect(collector.spans.find(({ kind }) => kind === 3)).toMatchObject({
      status: { code: 2 },
      attributes: { 'error.type': 'ECONNREFUSED' },
    });
  });

  it('is no part of a trace when it is an export', async () => {
    const collector = await fakeCollector();
    const settings = exportingSettings(collector.url);
    const { url } = await tracedApp(settings, (_req, res) => void res.end());
    await fetch(`${url}/things/1`);
    await collector.until(() => collector.spans.length > 0);
    for (const headers of collector.headers) {
      expect(headers).not.toHaveProperty('traceparent');
      expect(headers).not.toHaveProperty('x-request-id');
    }
  });

  it('goes on with a trace of Zipkin where OTEL_PROPAGATORS says b3', async () => {
    const collector = await fakeCollector();
    const settings = exportingSettings(collector.url, { OTEL_PROPAGATORS: 'b3multi' });
    const { url } = await tracedApp(settings, (_req, res) => void res.end());
    const b3 = { 'x-b3-traceid': traceId, 'x-b3-spanid': 'b7ad6b7169203331', 'x-b3-sampled': '1' };
    await fetch(`${url}/things/1`, { headers: b3 });
    await collector.until(() => collector.spans.length > 0);
    expect(collector.spans[0]).toMatchObject({ traceId, parentSpanId: 'b7ad6b7169203331' });
  });
});
