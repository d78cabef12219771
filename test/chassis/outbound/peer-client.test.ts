import { describe, expect, it } from 'vitest';
import { inTurn, jsonAnswer } from '../../../src/chassis/testing/fake-peer.ts';
import { bootCaller } from './boot-caller.ts';

const { app, payments, anything, log, boot, call, metric } = await bootCaller();

/** The time that the slowest of a hundred requests to a route without the peer takes, in milliseconds. */
async function p99OfOthers(): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 40; round += 1) {
    const sent = performance.now();
    const answers = Array.from({ length: 10 }, async () => {
      expect((await app.get('/fine')).status).toBe(200);
      times.push(performance.now() - sent);
    });
    await Promise.all(answers);
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] as number;
}

describe('a client of a service that is not well', () => {
  it('answers 504 at the deadline of the request while the peer still hangs', async () => {
    await call('post').expectData();
    anything.becomes();
    const deadline = String(Date.now() + 3_000);
    await call('post', {}, { 'x-request-deadline': deadline }).expectError(504, 'Gateway Timeout');
    expect(anything.received[0]?.headers['x-request-deadline']).toBe(deadline);
  });

  it('answers 504 when an attempt takes longer than its time', async () => {
    anything.becomes();
    await call('post', { timeoutMs: 50 }).expectError(504, 'Gateway Timeout');
    await expect.poll(() => anything.left).toBe(1);
  });

  it('tries a safe call again, and another one only with an idempotency key, which stays the same', async () => {
    const twice = () => inTurn(jsonAnswer({}, 503), jsonAnswer({}, 502), jsonAnswer({ done: true }));
    const before = await metric('http_client_retries_total{client="anything",method="GET"}');
    anything.becomes(twice());
    expect(await call('get').expectData()).toEqual({ done: true });
    expect((await metric('http_client_retries_total{client="anything",method="GET"}')) - before).toBe(2);
    anything.becomes(twice());
    await call('post', { body: {} }).expectError(502, 'Bad Gateway');
    expect(anything.received).toHaveLength(1);
    anything.becomes(twice());
    expect(await call('post', { body: {}, idempotencyKey: 'k' }).expectData()).toEqual({ done: true });
    expect(anything.received.map(({ headers }) => headers['idempotency-key'])).toEqual(['k', 'k', 'k']);
  });

  it('waits as long as Retry-After says, and not beyond the deadline of the request', async () => {
    anything.becomes(inTurn(jsonAnswer({}, 429, { 'retry-after': '1' }), jsonAnswer({ done: true })));
    expect(await call('get').expectData()).toEqual({ done: true });
    const [first, second] = anything.received;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990);
    anything.becomes(jsonAnswer({}, 503, { 'retry-after': '8' }));
    const { headers } = await call('get', {}, { 'x-request-deadline': String(Date.now() + 5_000) }).expectError(
      502,
      /./,
    );
    expect(headers['retry-after']).toBe('8');
    expect(anything.received).toHaveLength(1);
  });

  it.each(['999999999', '99999999999999', 'Fri, 31 Dec 9999 23:59:59 GMT'])(
    'passes on an hour where Retry-After is %s',
    async (after) => {
      anything.becomes(jsonAnswer({}, 503, { 'retry-after': after }));
      const { headers } = await call('get').expectError(502, /./);
      expect(headers['retry-after']).toBe('3600');
      expect(anything.received).toHaveLength(1);
    },
  );

  it('asks a peer that keeps failing no more, and tries again with one call later', async () => {
    anything.becomes(jsonAnswer({}, 500));
    const state = () => metric('http_client_circuit_breaker_state{client="fragile"}');
    const fail = () => call('post', {}, {}, 'fragile').expectError(502, 'Bad Gateway');
    for (let failed = 0; failed < 4; failed += 1) await fail();
    expect([await state(), anything.received.length]).toEqual([2, 4]);
    const { headers } = await fail();
    expect(headers).toHaveProperty('retry-after');
    expect(anything.received).toHaveLength(4);
    anything.becomes(jsonAnswer({ well: true }));
    await expect.poll(async () => (await call('post', {}, {}, 'fragile')).status, { timeout: 15_000 }).toBe(200);
    expect(anything.received).toHaveLength(1);
    expect(await state()).toBe(0);
    expect(log.lines.map(({ msg }) => msg)).toEqual(
      expect.arrayContaining([
        'circuit breaker opened: calls fail at once',
        'circuit breaker closed: calls go through again',
      ]),
    );
  });

  it.each([
    ['far too short for it', 1_000],
    ['a little too short for it', 4_000],
  ])('is asked on by all others while clients come with deadlines %s', async (_, leftMs) => {
    anything.becomes();
    const state = () => metric('http_client_circuit_breaker_state{client="fragile"}');
    const soon = () => ({ 'x-request-deadline': String(Date.now() + leftMs) });
    const hurried = Array.from({ length: 8 }, () => call('post', {}, soon(), 'fragile'));
    for (const { status } of await Promise.all(hurried)) expect(status).toBeGreaterThanOrEqual(503);
    expect(anything.received.length).toBeGreaterThan(2);
    expect(await state()).toBe(0);
    anything.becomes(jsonAnswer({ well: true }));
    await call('post', {}, {}, 'fragile').expectData();
  });

  it('is found well again by the first call of a client that leaves before the peer has answered', async () => {
    anything.becomes(jsonAnswer({}, 500));
    const state = () => metric('http_client_circuit_breaker_state{client="fragile"}');
    while ((await state()) !== 2) await call('post', {}, {}, 'fragile');
    // It answers later than the hurried wait: who comes at the right moment must not decide for all others.
    anything.becomes();
    const hurry = async () => {
      await call('post', {}, { 'x-request-deadline': String(Date.now() + 300) }, 'fragile');
      return anything.held;
    };
    await expect.poll(hurry, { timeout: 15_000 }).toBe(1);
    expect(await state()).toBe(1);
    anything.release();
    await expect.poll(state).toBe(0);
    anything.becomes(jsonAnswer({ well: true }));
    await call('post', {}, {}, 'fragile').expectData();
  });

  it('is asked on by all others while clients bring what no header can hold', async () => {
    const state = () => metric('http_client_circuit_breaker_state{client="fragile"}');
    const broken = [{ idempotencyKey: 'a\r\nb: c' }, { headers: { 'x-name': '\u{1f600}' } }];
    for (const options of [...broken, ...broken, ...broken]) {
      await call('post', options, {}, 'fragile').expectError(500, /Invalid character/);
    }
    expect([await state(), anything.received.length]).toEqual([0, 0]);
    await call('post', {}, {}, 'fragile').expectData();
  });

  it('sends a call that waited for a connection as part of its own request', async () => {
    anything.becomes((res, { headers }) => jsonAnswer(headers['x-request-id'])(res));
    const ids = Array.from({ length: 20 }, (_, index) => `request-${index}`);
    const echoed = ids.map((id) => call('get', {}, { 'x-request-id': id }, 'single').expectData());
    expect(await Promise.all(echoed)).toEqual(ids);
  });

  it('ends a safe call when its client goes away, and lets one that may change something go on', async () => {
    for (const [method, left] of [
      ['get', 1],
      ['post', 0],
    ] as const) {
      anything.becomes();
      const client = new AbortController();
      const answer = fetch(`${app.url}/anything/${method}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
        signal: client.signal,
      });
      await expect.poll(() => anything.held).toBe(1);
      client.abort();
      await expect(answer).rejects.toThrow();
      if (left > 0) await expect.poll(() => anything.left).toBe(1);
      else expect(anything.held).toBe(1);
      anything.release();
    }
  });

  it('lets a peer that hangs hold its own calls only, and other routes answer as quickly as before', async () => {
    const before = await p99OfOthers();
    payments.becomes();
    const held = Array.from({ length: 4 }, () => app.get('/charges/1').then(({ status }) => status));
    await expect.poll(() => payments.held).toBe(2);
    const isQuick = async () => (await p99OfOthers()) < 3 * before + 100;
    // What hangs makes them slow each time, other work on the machine does not.
    expect((await isQuick()) || (await isQuick())).toBe(true);
    await app.get('/charges/1').expectError(503, 'Service Unavailable');
    expect(payments.held).toBe(2);
    payments.answer = jsonAnswer({ id: '1', cents: 1 });
    payments.release();
    expect(await Promise.all(held)).toEqual([200, 200, 200, 200]);
  });

  it('is asked for all others while one client calls by the hundred, whose last call gives way to theirs', async () => {
    const proxied = await boot({ TRUST_PROXY: '1' });
    payments.becomes();
    const charge = (from: string) =>
      proxied.send((server) => server.get('/charges/1').set('x-forwarded-for', from)).then(({ status }) => status);
    const many = Array.from({ length: 4 }, () => charge('192.0.2.1'));
    await expect.poll(() => payments.held).toBe(2);
    expect(await charge('192.0.2.1')).toBe(503);
    const other = charge('192.0.2.2');
    expect(await Promise.any(many)).toBe(503);
    payments.answer = jsonAnswer({ id: '1', cents: 1 });
    payments.release();
    expect(await other).toBe(200);
    expect((await Promise.all(many)).sort()).toEqual([200, 200, 200, 503]);
  });

  it('is asked on by all others while calls of one client are late because they wait for each other', async () => {
    const state = () => metric('http_client_circuit_breaker_state{client="fragile"}');
    anything.becomes((res) => void setTimeout(() => jsonAnswer({})(res), 1_000));
    const statuses = await Promise.all(
      Array.from({ length: 100 }, () => call('post', { timeoutMs: 1_500 }, {}, 'fragile').then(({ status }) => status)),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(50);
    expect(await state()).toBe(0);
    await call('post', {}, {}, 'fragile').expectData();
  });

  it('is counted by client, method and class of the status', async () => {
    const name = 'http_client_request_duration_seconds_count{client="payments",method="GET",status="2xx"}';
    const before = await metric(name);
    await app.get('/charges').expectData();
    expect(await metric(name)).toBe(before + 1);
  });
});
