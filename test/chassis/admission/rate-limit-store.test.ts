import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { WindowCounts } from '../../../src/chassis/admission/rate-limit.ts';
import { RateLimitStore } from '../../../src/chassis/admission/rate-limit-store.ts';
import { TestRedis, withoutRedis } from '../../support/redis.ts';
import { type LogLine, memoryLog } from '../http/bare-app.ts';

const root = join(import.meta.dirname, '../../..');
const redis = withoutRedis === '' ? await TestRedis.start() : undefined;
let limits: RateLimitStore;
let lines: LogLine[];
let made = 0;

beforeEach(() => {
  const log = memoryLog();
  lines = log.lines;
  limits = new RateLimitStore({ logger: log.logger, metrics: { limited: () => undefined } });
});
afterEach(() => limits.close());
afterAll(() => redis?.stop());

const open = () => limits.open({ RATE_LIMIT_ENABLED: true, REDIS_URL: redis?.url });
const messages = () => lines.map(({ msg }) => msg).filter((msg) => msg.startsWith('Redis'));
const away = 'Redis unavailable: rate limits counted per replica';
const back = 'Redis recovered: rate limits shared again';

/** A counter of ten requests a minute, and what is left of it after one more. */
function counter(name = `test-${process.pid}-${++made}`) {
  const quota = limits.counterFor({ name, points: 10, seconds: 60 });
  const left = async () => Math.max(0, 10 - ((await quota?.consume('client', 1))?.used ?? Number.NaN));
  return { name, left };
}

describe.skipIf(!redis)(`rate limits in Redis${withoutRedis}`, () => {
  it('are not shared with another service', async () => {
    const inService = async (OTEL_SERVICE_NAME: string) => {
      await limits.close();
      await limits.open({ RATE_LIMIT_ENABLED: true, REDIS_URL: redis?.url, OTEL_SERVICE_NAME });
    };
    await inService('orders');
    const orders = counter();
    await expect.poll(async () => (messages().length === 0 ? await orders.left() : 'away')).toBeLessThan(9);
    await inService('stock');
    expect(await counter(orders.name).left()).toBe(9);
  });

  it('are shared by all replicas', async () => {
    await open();
    const one = counter();
    // The first request may come before the connection is there.
    await expect.poll(async () => (messages().length === 0 ? await one.left() : 'away')).toBeLessThan(10);
    await expect.poll(one.left).toBeLessThan(9);
    const before = (await one.left()) ?? 0;
    await limits.close();
    await open();
    const other = counter(one.name);
    await expect.poll(other.left, { interval: 20 }).toBeLessThan(before);
  });

  it('are counted in memory while it is away, which is said once, and shared again when it is back', async () => {
    await open();
    const { left } = counter();
    await expect.poll(left).toBeLessThan(9);
    await redis?.stop();
    await expect.poll(messages).toEqual([away]);
    for (let request = 9; request >= 5; request -= 1) {
      const started = performance.now();
      expect(await left()).toBeLessThanOrEqual(request);
      expect(performance.now() - started).toBeLessThan(200);
    }
    await redis?.start();
    await expect.poll(messages, { timeout: 10_000 }).toEqual([away, back]);
    // It came back empty, so the count begins anew.
    expect(await left()).toBe(9);
  });

  it('wait a moment for one that hangs, once, and not at every request', async () => {
    await open();
    const { left } = counter();
    await expect.poll(left).toBeLessThan(9);
    const warnings: string[] = [];
    const note = ({ name }: Error) => warnings.push(name);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    redis?.freeze();
    for (const found of await Promise.all(Array.from({ length: 30 }, left))) expect(found).toBeTypeOf('number');
    await expect.poll(messages).toEqual([away]);
    // The connection is replaced once, and gets no listener for each request until it has closed.
    expect(warnings).not.toContain('MaxListenersExceededWarning');
    const started = performance.now();
    for (let request = 0; request < 5; request += 1) await left();
    expect(performance.now() - started).toBeLessThan(200);
    redis?.thaw();
    await expect.poll(messages, { timeout: 10_000 }).toEqual([away, back]);
  });

  it('refuse over the limit without asking each time', async () => {
    await open();
    const quota = limits.counterFor({ name: `test-${process.pid}-${++made}`, points: 1, seconds: 60 });
    const used = async () => (await quota?.consume('client', 1))?.used;
    await expect.poll(used).toBeGreaterThan(1);
    await expect.poll(used).toBeGreaterThan(1);
  });
});

describe('RateLimitStore', () => {
  it('does not wait for a Redis that is not there', async () => {
    const started = performance.now();
    await limits.open({ RATE_LIMIT_ENABLED: true, REDIS_URL: 'redis://127.0.0.1:1' });
    expect(await counter().left()).toBe(9);
    expect(performance.now() - started).toBeLessThan(2000);
    await expect.poll(messages).toEqual([away]);
  });

  it.each([
    ['a text', '+OK\r\n'],
    ['nothing', '*-1\r\n'],
    ['a list of nothing', '*2\r\n$-1\r\n$-1\r\n'],
    ['a list of texts', '*2\r\n$3\r\nyes\r\n$2\r\nno\r\n'],
    ['a count below nothing', '*2\r\n:-5\r\n:1000\r\n'],
    ['no end of the window', '*2\r\n:1\r\n:-1\r\n'],
  ])('counts by itself where Redis gives %s in the place of a count', async (_what, answer) => {
    await limits.open({ RATE_LIMIT_ENABLED: true, REDIS_URL: await startFalseRedis(answer) });
    const { left } = counter();
    // The first requests may come before the connection is there.
    await expect.poll(async () => [await left(), ...messages()]).toContain(away);
    for (let request = 0; request < 10; request += 1) expect(await left()).toBeLessThan(10);
    expect(await left()).toBe(0);
  });

  it('has nobody wait for longer than the window, however long Redis says', async () => {
    await limits.open({ RATE_LIMIT_ENABLED: true, REDIS_URL: await startFalseRedis('*2\r\n:7\r\n:86400000\r\n') });
    const quota = limits.counterFor({ name: `test-${process.pid}-${++made}`, points: 10, seconds: 60 });
    await expect.poll(async () => quota?.consume('client', 1)).toEqual({ used: 7, resetMs: 60_000 });
  });

  it('keeps nobody out for as long as Redis says in error', async () => {
    const answers = ['*2\r\n:4000\r\n:86400000\r\n'];
    const answer = () => answers.shift() ?? '*2\r\n:7\r\n:60000\r\n';
    await limits.open({ RATE_LIMIT_ENABLED: true, REDIS_URL: await startFalseRedis(answer) });
    const quota = limits.counterFor({ name: `test-${process.pid}-${++made}`, points: 10, seconds: 60 });
    await expect.poll(async () => quota?.consume('client', 1)).toEqual({ used: 4000, resetMs: 60_000 });
    expect(await quota?.consume('client', 1)).toEqual({ used: 7, resetMs: 60_000 });
  });

  it.each([
    ['nothing', 'false', '', [false, false]],
    ['nothing', 'true', '', [false, false]],
    ['what is used', 'true', 'redis://127.0.0.1:1', [true, true]],
  ])('loads %s with RATE_LIMIT_ENABLED=%s REDIS_URL=%s', (_what, enabled, url, loaded) => {
    const script = `
      import { registerHooks } from 'node:module';
      const found = { 'rate-limiter-flexible': false, ioredis: false };
      registerHooks({ resolve(name, context, next) { if (name in found) found[name] = true; return next(name, context); } });
      const { RateLimitStore } = await import(process.argv[1]);
      const limits = new RateLimitStore({});
      await limits.open({ RATE_LIMIT_ENABLED: ${enabled}, REDIS_URL: ${JSON.stringify(url)} || undefined });
      await limits.close();
      console.log(JSON.stringify(Object.values(found)));`;
    const store = pathToFileURL(join(root, 'src/chassis/admission/rate-limit-store.ts')).href;
    const text = execFileSync(process.execPath, ['--input-type=module', '--eval', script, store], {
      cwd: root,
      env: { ...process.env, LOG_LEVEL: 'silent' },
      encoding: 'utf8',
    });
    expect(JSON.parse(text)).toEqual(loaded);
  });
});

const textOf = (answer: string | (() => string)) => (typeof answer === 'string' ? answer : answer());

/** The URL of a Redis that counts nothing and answers whatever is asked to count with this, until the end of the test. */
async function startFalseRedis(answer: string | (() => string)): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (commands) => {
      for (const [, name] of String(commands).matchAll(/\*\d+\r\n\$\d+\r\n(\w+)\r\n/g))
        socket.write(/^eval/i.test(name ?? '') ? textOf(answer) : name === 'info' ? '$0\r\n\r\n' : '+OK\r\n');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    await limits.close();
    server.close();
    await once(server, 'close');
  });
  return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

describe('WindowCounts', () => {
  it('adds up the points of a key until its window ends, then begins anew', () => {
    const counts = new WindowCounts(10);
    expect(counts.consume('a', 1)).toEqual({ used: 1, resetMs: 10_000 });
    vi.advanceTimersByTime(4000);
    expect(counts.consume('a', 5)).toEqual({ used: 6, resetMs: 6000 });
    vi.advanceTimersByTime(6000);
    expect(counts.consume('a', 2)).toEqual({ used: 2, resetMs: 10_000 });
  });

  it('counts each key by itself', () => {
    const counts = new WindowCounts(10);
    counts.consume('a', 7);
    expect(counts.consume('b', 1).used).toBe(1);
  });

  it('keeps a bounded number of keys, and of those beyond it who has used the most', () => {
    const counts = new WindowCounts(3_600);
    counts.consume('guessed', 100);
    for (let made = 0; made < 50_000; made += 1) counts.consume(`account-${made}@example.com`, 1);
    expect(counts.size).toBeLessThanOrEqual(20_000);
    expect(counts.consume('guessed', 1).used).toBe(101);
  });

  it('lets go of keys whose window has ended, and of no others', () => {
    const counts = new WindowCounts(10);
    for (let index = 0; index < 1000; index += 1) counts.consume(`old ${index}`, 1);
    vi.advanceTimersByTime(5000);
    counts.consume('young', 1);
    counts.consume('old 0', 1);
    vi.advanceTimersByTime(5000);
    expect(counts.consume('new', 1).used).toBe(1);
    expect(counts.size).toBe(2);
    expect(counts.consume('young', 1).used).toBe(2);
  });
});
