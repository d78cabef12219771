import { describe, expect, it } from 'vitest';
import { createService, httpClient, type z } from '../../../src/chassis/index.ts';
import { FakePeer, jsonAnswer } from '../../../src/chassis/testing/fake-peer.ts';
import { bootCaller } from './boot-caller.ts';

const { app, payments, anything, log, boot, call } = await bootCaller();

describe('a client of another service', () => {
  it('gives the answers of the operations that its types name, accepted failures among them', async () => {
    payments.becomes(jsonAnswer({ id: 'a/b', orderId: '1', cents: 5 }));
    expect(await app.get('/charges/a%2Fb').expectData()).toBe(5);
    payments.answer = jsonAnswer({ reason: 'unknown' }, 404);
    expect(await app.get('/charges/c').expectData()).toBe('unknown');
    payments.answer = jsonAnswer([]);
    expect(await app.get('/charges').expectData()).toEqual([]);
    expect(payments.received.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /pay/charges/a%2Fb',
      'GET /pay/charges/c',
      'GET /pay/charges?orderId=a+b',
    ]);
  });

  it('sends a body as JSON, its own headers, and the trace and id of the request', async () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    await call('post', { path: '/x', body: { a: 1 } }, { traceparent, 'x-request-id': 'mine' }).expectData();
    const [sent] = anything.received;
    expect(sent?.body).toBe('{"a":1}');
    expect(sent?.headers).toMatchObject({
      'content-type': 'application/json',
      authorization: 'Bearer of-the-client',
      traceparent: expect.stringContaining('a'.repeat(32)),
      'x-request-id': 'mine',
    });
  });

  it('answers 502 where the peer failed, with peer and status in the log and not in the body', async () => {
    anything.becomes(jsonAnswer({ secret: 'of the peer' }, 418));
    log.lines.length = 0;
    const answer = await call('post', { path: '/brew' }).expectError(502, 'Bad Gateway');
    // The time of one answer in a thousand has the digits of the status.
    expect(answer.text.replace(/"timestamp":"[^"]*"/, '')).not.toMatch(/anything|brew|418|secret/);
    const line = log.lines.find(({ msg }) => msg.includes('Bad Gateway'));
    expect(JSON.stringify(line)).toContain(
      '"peer":{"peer":"anything","method":"POST","path":"/brew","attempts":1,"reason":"status","status":418}',
    );
    expect(JSON.stringify(line)).not.toContain('secret');
  });

  it('reads a megabyte of an answer and no more, unless the client says otherwise, so that many fit into a small pod', async () => {
    const sized = (bytes: number) => jsonAnswer('x'.repeat(bytes - 2));
    anything.becomes(sized(1_048_576));
    expect(await call('post', {}, {}, 'single').expectData()).toHaveLength(1_048_574);
    anything.becomes(sized(1_048_577));
    await call('post', {}, {}, 'single').expectError(502, 'Bad Gateway');
  });

  it.each([
    ['is longer than it may be', (peer: FakePeer) => peer.becomes(jsonAnswer('x'.repeat(2_000))), 'too large'],
    [
      'is no JSON',
      (peer: FakePeer) => peer.becomes((res) => res.setHeader('content-type', 'application/json').end('{')),
      'unreadable',
    ],
    ['breaks off', (peer: FakePeer) => peer.becomes((res) => void res.write('{', () => res.destroy())), 'unreachable'],
    ['is not what the schema says', (peer: FakePeer) => peer.becomes(jsonAnswer({ known: false })), 'unreadable'],
    ['leads elsewhere', (peer: FakePeer) => peer.becomes(jsonAnswer({}, 302, { location: '/other' })), 'status'],
  ])('answers 502 where the answer of the peer %s', async (_what, prepare, reason) => {
    prepare(anything);
    log.lines.length = 0;
    await call('post', { strict: true }).expectError(502, 'Bad Gateway');
    expect(JSON.stringify(log.lines)).toContain(`"reason":"${reason}"`);
    expect(anything.received).toHaveLength(1);
  });
});

describe('the clients of a service', () => {
  it('are its own: each service calls its own peer, and its end closes the connections', async () => {
    const other = await FakePeer.open(jsonAnswer({ id: '1', cents: 7 }));
    const service = await boot({ CHARGES_URL: other.url });
    payments.becomes(jsonAnswer({ id: '1', cents: 8 }));
    expect(await service.get('/charges/1').expectData()).toBe(7);
    expect(await app.get('/charges/1').expectData()).toBe(8);
    expect(await other.connections()).toBe(1);
    await service.service.close();
    await expect.poll(() => other.connections()).toBe(0);
    expect(await app.get('/charges/1').expectData()).toBe(8);
    other.close();
  });

  it('are a reason for not being ready where the URL is missing or wrong, which names the variable', async () => {
    const service = await boot({ CHARGES_URL: 'ftp://user@host', ANYTHING_URL: '' });
    const failures = service.service.startUpReport.failures.map(({ error }) => String(error));
    expect(failures.join()).toMatch(/2 problems:\n {2}- CHARGES_URL: expected an http.*\n {2}- ANYTHING_URL: expected/);
    expect((await service.get('/readyz')).status).toBe(503);
  });

  it('stop the start with one message where a module names their settings', () => {
    const { settings } = httpClient('payments', { url: 'CHARGES_URL' });
    const make = () =>
      createService({ modules: [], server: { port: 0 }, moduleSettings: settings }, { env: { PORT: 'x' } });
    expect(make).toThrow(/2 problems:[\s\S]*- PORT: [\s\S]*- CHARGES_URL: expected an http:\/\/ or https:\/\/ URL/);
    expect((settings['CHARGES_URL'] as z.ZodType).description).toBe(
      'Base URL of the service payments, which this one calls',
    );
  });

  it.each([
    ['a name', 'pay ments', {}],
    ['a URL', 'payments', { url: 'http://user:secret@host' }],
    ['a number of retries', 'payments', { retries: -1 }],
  ])('are refused with %s that is none', (_what, name, options) => {
    expect(() => httpClient(name, { url: 'CHARGES_URL', ...options })).toThrow(/^Expected of httpClient a name/);
  });
});
