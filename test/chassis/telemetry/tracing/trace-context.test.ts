import { describe, expect, it } from 'vitest';
import { getRequestContext } from '../../../../src/chassis/context/request-context.ts';
import {
  formatTraceParent,
  newTraceParent,
  parseTraceParent,
  traceCarrier,
} from '../../../../src/chassis/telemetry/tracing/trace-context.ts';
import { exportingSettings } from '../../../support/exporting-settings.ts';
import { headersEcho, tracedApp } from './traced-app.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

describe('parseTraceParent', () => {
  it.each([
    [`00-${traceId}-${spanId}-01`, true],
    [`00-${traceId}-${spanId}-00`, false],
    [`00-${traceId}-${spanId}-ff`, true],
    [`cc-${traceId}-${spanId}-01-what-the-future-will-be-like`, true],
  ])('reads %s', (header, sampled) => {
    expect(parseTraceParent(header)).toEqual({ traceId, spanId, sampled });
  });

  it.each([
    undefined,
    '',
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId}-${spanId}-01 `,
    `ff-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}-0`,
    `00-${traceId}\r\n-${spanId}-01`,
  ])('takes nothing of %j', (header) => {
    expect(parseTraceParent(header)).toBeUndefined();
  });
});

describe('newTraceParent', () => {
  it('makes ids that hold and never come twice, in a trace that nobody records', () => {
    const made = Array.from({ length: 2_000 }, newTraceParent);
    for (const parent of made)
      expect(parseTraceParent(formatTraceParent(parent))).toEqual({ ...parent, sampled: false });
    expect(new Set(made.flatMap(({ traceId: trace, spanId: span }) => [trace, span]))).toHaveProperty('size', 4_000);
  });
});

const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('traceCarrier', () => {
  it('has the headers that tell of a trace, and no others', () => {
    const told = { traceparent: parent, tracestate: 'a=b', baggage: 'a=%C3%A9,b=c;d', b3: '0' };
    expect(traceCarrier({ ...told, authorization: 'Bearer x' })).toEqual(told);
  });

  it.each([
    ['a baggage of thousands of malformed entries', { baggage: 'a=%,'.repeat(2_000) }],
    ['a letter that ends in the next entry', { baggage: 'a=%C3,b=%A9' }],
    ['a baggage that is longer than any may be', { baggage: 'a=b,'.repeat(3_000) }],
    ['a state that is longer than is passed on', { tracestate: `a=${'b'.repeat(600)}` }],
    ['the same of Zipkin', { b3: 'b'.repeat(600) }],
  ])('leaves out %s', (_what, headers) => {
    expect(traceCarrier({ traceparent: parent, ...headers })).toEqual({ traceparent: parent });
  });
});

/** What a service without an endpoint sends on by fetch, when it is called with these headers. */
async function passedOn(headers: Record<string, string>, init?: RequestInit): Promise<Record<string, string[]>> {
  const echo = await headersEcho();
  const { url } = await tracedApp(exportingSettings(undefined), async (_req, res) => {
    res.json({ sent: await (await fetch(echo, init)).json(), context: getRequestContext() });
  });
  const body = (await (await fetch(`${url}/things/1`, { headers })).json()) as { sent: Record<string, string[]> };
  return body.sent;
}

describe('without an endpoint', () => {
  it('loads no part of OpenTelemetry', async () => {
    const { telemetry } = await tracedApp(exportingSettings(undefined), (_req, res) => void res.end());
    expect(telemetry.describe()).toEqual({
      tracing: { exportsTo: undefined, tracerProvider: 'none' },
      sentry: 'off',
    });
    expect(Object.getOwnPropertySymbols(globalThis).map(String)).not.toContainEqual(
      expect.stringMatching('opentelemetry'),
    );
  });

  it('fetch carries trace, state, baggage, request id and deadline of the request', async () => {
    const sent = await passedOn({
      traceparent: parent,
      tracestate: 'rojo=00f067aa0ba902b7',
      baggage: 'tenant=a%20b;secret,plan=free',
      'x-request-id': 'r1',
      'x-request-deadline': '2026-11-21T12:00:00.500Z',
    });
    expect(sent).toMatchObject({
      traceparent: [parent],
      tracestate: ['rojo=00f067aa0ba902b7'],
      baggage: ['tenant=a%20b;secret,plan=free'],
      'x-request-id': ['r1'],
      'x-request-deadline': [String(Date.parse('2026-11-21T12:00:00.500Z'))],
    });
  });

  it('begins a trace that is not recorded where the caller brought none that holds', async () => {
    const sent = await passedOn({ traceparent: '00-bad-01', tracestate: 'a=b', 'x-request-deadline': 'tomorrow' });
    expect(sent.traceparent).toEqual([expect.stringMatching(/^00-[\da-f]{32}-[\da-f]{16}-00$/)]);
    expect(sent).not.toHaveProperty('tracestate');
    expect(sent).not.toHaveProperty('x-request-deadline');
  });

  it('leaves headers that the caller of fetch set', async () => {
    const sent = await passedOn({}, { headers: { 'X-Request-Id': 'own', Traceparent: parent } });
    expect(sent).toMatchObject({ 'x-request-id': ['own'], traceparent: [parent] });
  });

  it('passes no baggage on that is too long or holds more than ASCII', async () => {
    expect(await passedOn({ baggage: `a=${'x'.repeat(8_200)}` })).not.toHaveProperty('baggage');
    expect(await passedOn({ baggage: 'a=\u00e4' })).not.toHaveProperty('baggage');
  });

  it('adds nothing to a fetch outside a request', async () => {
    const echo = await headersEcho();
    await tracedApp(exportingSettings(undefined), (_req, res) => void res.end());
    expect(Object.keys((await (await fetch(echo)).json()) as object)).not.toContain('traceparent');
  });
});
