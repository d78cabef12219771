import { Agent, get, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { StreamShares } from '../../src/chassis/http/streams/stream-shares.ts';
import { bootTestApp } from '../support/boot-test-app.ts';

const modulesDirectory = join(import.meta.dirname, '../fixtures/modules-streaming');
const boot = (env: Record<string, string> = {}) =>
  bootTestApp({
    modulesDirectory,
    env,
    configure: (config) => ({ ...config, modules: [{ name: 'export', enabled: true }] }),
  });
const app = await boot();

/** An answer of which nothing is read before the test asks for it. */
function open(path: string, to = app, localAddress = '127.0.0.1'): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(`${to.url}${path}`, { agent: false, localAddress }, (res) => resolve(res.pause())).on('error', reject);
  });
}

const state = (): Promise<{ read: number; ended: number }> => app.get('/state').expectData();

describe('a stream of rows', () => {
  it('holds every record once, in the order of their ids, as CSV and as NDJSON', async () => {
    const records = await app.orm.product.findMany({
      orderBy: { id: 'asc' },
      select: { id: true, sku: true, price: true },
    });
    const csv = await app.get('/products.csv');
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(csv.headers['content-disposition']).toBe(
      `attachment; filename="products _all_.csv"; filename*=UTF-8''products%20%22all%22.csv`,
    );
    expect(csv.text).toBe(`sku,price\r\n${records.map(({ sku, price }) => `${sku},${price}\r\n`).join('')}`);
    const ndjson = await (await fetch(`${app.url}/products.ndjson`)).text();
    const lines = ndjson
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ sku }) => sku)).toEqual(records.map(({ sku }) => sku));
    expect(records.length).toBeGreaterThan(7);
  });

  it('is charged to its client as it goes, and not cut when that has nothing left', async () => {
    const limited = await boot({ RATE_LIMIT_REQUESTS: '10' });
    const { headers } = await limited.get('/state');
    expect(headers['ratelimit']).toMatch(/^"client";r=9;/);
    const rows = await (await fetch(`${limited.url}/rows.ndjson?count=50000`)).text();
    expect(rows.split('\n')).toHaveLength(50_001);
    await limited.get('/state').expectError(429, /Too many requests/);
  });

  it('answers what its source raises before the first row, and is cut after it', async () => {
    await app.get('/rows.csv', { count: 5, failAt: 0 }).expectError(500, 'the source failed');
    const { ended } = await state();
    await expect(
      fetch(`${app.url}/rows.ndjson?count=1000000&failAt=10000`).then((res) => res.text()),
    ).rejects.toThrow();
    expect((await state()).ended).toBe(ended + 1);
    expect((await app.get('/rows.csv', { count: 0 })).text).toBe('');
  });

  it('reads no more than its client takes, and ends its source when the client goes away', async () => {
    const before = await state();
    const res = await open('/rows.ndjson?count=1000000');
    let last = -1;
    const waits = async () => {
      const { read } = await state();
      const stands = read === last;
      last = read;
      return stands;
    };
    await expect.poll(waits, { timeout: 15_000, interval: 100 }).toBe(true);
    expect(last - before.read).toBeLessThan(100_000);
    res.destroy();
    await expect.poll(async () => (await state()).ended).toBe(before.ended + 1);
    expect((await state()).read - before.read).toBeLessThan(100_000);
  });

  it('is one of as many of a caller as the route takes, who gets the next once one has ended', async () => {
    const { ended } = await state();
    const streams = await Promise.all([open('/slow.ndjson'), open('/slow.ndjson')]);
    expect(streams.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    await app.get('/slow.ndjson').expectError(429, /^2 streams of yours are under way/);
    for (const stream of streams) stream.destroy();
    await expect.poll(async () => (await state()).ended).toBe(ended + 2);
    const next = await open('/slow.ndjson');
    expect(next.statusCode).toBe(200);
    next.destroy();
    await expect.poll(async () => (await state()).ended).toBe(ended + 3);
  });

  it('leaves most of each turn of the event loop to others, however many stream', async () => {
    const streams = Array.from({ length: 20 }, async () => (await fetch(`${app.url}/heavy.ndjson`)).text());
    const most: number = await app.get('/most-read').expectData();
    // Three of 4 ms each begin within 10 ms; none is left where they were all sent before this request was heard.
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(3);
    for (const text of await Promise.all(streams)) expect(text.length).toBeGreaterThan(400_000);
  });
});

describe('a service with as many streams as it takes', () => {
  const full = async () => {
    const other = await boot();
    Object.assign(other.service, { streams: new StreamShares({ rows: 3, events: 3 }) });
    return other;
  };

  it('cuts one of rows, of the address with the most, for one of an address with fewer', async () => {
    const other = await full();
    const rows = '/rows.ndjson?count=1000000';
    const streams: IncomingMessage[] = [];
    for (let count = 0; count < 3; count += 1) streams.push(await open(rows, other, '127.0.0.2'));
    expect((await other.get('/rows.ndjson', { count: 2 })).status).toBe(200);
    const ends = streams.map((stream) => text(stream).catch(() => 'cut'));
    expect(await Promise.race(ends)).toBe('cut');
    const second = await open(rows, other, '127.0.0.3');
    const refused = await open(rows, other, '127.0.0.3');
    expect([second.statusCode, refused.statusCode]).toEqual([200, 503]);
    for (const stream of [...streams, second, refused]) stream.destroy();
    const { text: told } = await other.service.metrics.text();
    expect(told).toContain('http_connections_cut_total{reason="displaced"} 1');
  });

  it('ends the oldest of events, of the address with the most, for one of an address with fewer', async () => {
    const other = await full();
    const streams: IncomingMessage[] = [];
    for (let count = 0; count < 3; count += 1) streams.push(await open('/events', other, '127.0.0.2'));
    const oldest = text(streams[0] as IncomingMessage);
    const next = await open('/events', other, '127.0.0.3');
    expect(await oldest).toContain('id: 1');
    const second = await open('/events', other, '127.0.0.4');
    expect([next.statusCode, second.statusCode]).toEqual([200, 200]);
    await other.get('/events').expectError(503, /^Too many streams are under way/);
    for (const stream of [...streams, next, second]) stream.destroy();
    await other.post('/next');
  });
});

describe('a stream of events', () => {
  it('begins behind the last event that the client got, shows signs of life, and ends its source with the client', async () => {
    const { ended } = await state();
    const controller = new AbortController();
    const res = await fetch(`${app.url}/events`, { headers: { 'last-event-id': '41' }, signal: controller.signal });
    expect(res.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    let text = '';
    for await (const piece of res.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(piece);
      if (text.includes('id: 42') && text.includes(': alive') && !text.includes('id: 43')) await app.post('/next');
      if (text.includes('id: 43')) break;
    }
    expect(text).toContain('retry: 10\n\n');
    expect(text).toContain('event: tick\nid: 42\ndata: {"id":42}\n\n');
    controller.abort();
    await app.post('/next');
    await expect.poll(async () => (await state()).ended).toBe(ended + 1);
  });

  it('is complete for HEAD, which has no events, and leaves the connection to the next request', async () => {
    const { ended } = await state();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let count = 0; count < 3; count += 1) {
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
      request(`${app.url}/events`, { agent, method: 'HEAD' }, (res) => res.resume().once('end', () => resolve(res)))
        .on('error', reject)
        .end();
      const { statusCode, headers } = await promise;
      expect([statusCode, headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
    }
    agent.destroy();
    await app.post('/next');
    await expect.poll(async () => (await state()).ended).toBe(ended + 3);
  });

  it('is one of as many of a caller as the route takes, beside streams of rows, who gets the next once one has ended', async () => {
    const { ended } = await state();
    const streams = await Promise.all([open('/few-events'), open('/few-events')]);
    expect(streams.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    await app.get('/few-events').expectError(429, /^2 streams of yours are under way/);
    expect((await app.get('/rows.csv', { count: 1 })).status).toBe(200);
    streams[0]?.destroy();
    await expect
      .poll(async () => {
        const next = await open('/few-events');
        next.destroy();
        return next.statusCode;
      })
      .toBe(200);
    streams[1]?.destroy();
    await app.post('/next');
    await expect.poll(async () => (await state()).ended).toBeGreaterThanOrEqual(ended + 2);
  });

  it('keeps no body that its GET came with, so that none counts for as long as it lasts', async () => {
    const body = JSON.stringify(Array.from({ length: 49_000 }, (_, index) => String(index).padStart(18, 'x')));
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const follow = () =>
      new Promise<IncomingMessage>((resolve, reject) => {
        request(`${app.url}/events`, { agent: false, headers }, (res) => resolve(res.pause()))
          .on('error', reject)
          .end(body);
      });
    const streams: IncomingMessage[] = [];
    for (let index = 0; index < 12; index += 1) streams.push(await follow());
    expect(streams.map(({ statusCode }) => statusCode)).toEqual(streams.map(() => 200));
    for (const stream of streams) stream.destroy();
    await app.post('/next');
  });

  it('ends when the service begins to drain, which does not wait for its deadline', async () => {
    const other = await boot();
    const res = await open('/events', other);
    let text = '';
    const all = (async () => {
      for await (const piece of res) text += piece;
    })();
    await expect.poll(() => text).toContain('id: 1');
    const report = await other.service.close();
    await all;
    expect(report).toMatchObject({ finished: 1, cut: 0 });
  });
});

describe.each(['none', 'other'])('a stream of a caller whose role becomes %s', (role) => {
  const openOwn = async (path: string) => {
    await app.post('/rights/user');
    const res = await fetch(`${app.url}${path}`, { headers: { caller: 'ann' } });
    expect(res.status).toBe(200);
    const { ended } = await state();
    return { res, ended };
  };

  it('ends, of events in order', async () => {
    const { res, ended } = await openOwn('/own-events');
    await app.post(`/rights/${role}`);
    const text = await res.text();
    expect(text).toContain('id: 1');
    await app.post('/next');
    await expect.poll(async () => (await state()).ended).toBe(ended + 1);
    const again = await fetch(`${app.url}/own-events`, { headers: { caller: 'ann' } });
    expect(again.status).toBe(role === 'none' ? 401 : 200);
    await again.body?.cancel();
    await app.post('/next');
  });

  it('is cut, of rows, so that nobody takes a part for the whole', async () => {
    const { res, ended } = await openOwn('/own-rows');
    await app.post(`/rights/${role}`);
    await expect(res.text()).rejects.toThrow();
    await expect.poll(async () => (await state()).ended).toBe(ended + 1);
  });
});
