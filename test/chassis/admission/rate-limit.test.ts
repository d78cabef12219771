import type { RequestHandler } from 'express';
import request from 'supertest';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type RateLimitPolicy, rateLimit } from '../../../src/chassis/admission/rate-limit.ts';
import { RateLimitStore } from '../../../src/chassis/admission/rate-limit-store.ts';
import { bodyParser } from '../../../src/chassis/http/bodies/body-parser.ts';
import { readBodyFirst } from '../../../src/chassis/http/bodies/request-body.ts';
import { requestContextOf } from '../../../src/chassis/http/pipeline/request-context-of.ts';
import { requestPipeline } from '../../../src/chassis/http/pipeline/request-pipeline.ts';
import { bareApp, memoryLog } from '../http/bare-app.ts';

const counted: string[] = [];
const limits = new RateLimitStore({
  logger: memoryLog().logger,
  metrics: { limited: (name) => void counted.push(name) },
});
const before: RequestHandler[] = [
  requestPipeline(),
  (req, _res, next) => {
    requestContextOf(req).userId = req.headers['x-user'] as string;
    next();
  },
];
const answer: RequestHandler = (_req, res) => void res.json({ ok: true });

function limited(...policies: RateLimitPolicy[]) {
  const app = bareApp([...before, ...policies.map((policy) => rateLimit(policy, limits)), answer]).set(
    'trust proxy',
    true,
  );
  return (from = '192.0.2.1', user?: string) => {
    const get = request(app).get('/').set('x-forwarded-for', from);
    return user === undefined ? get : get.set('x-user', user);
  };
}

beforeEach(() => limits.open({ RATE_LIMIT_ENABLED: true, REDIS_URL: undefined }));
afterEach(() => limits.close());

describe('rateLimit', () => {
  it.each(['address', 'user', () => 'all'] as const)(
    'refuses before a body is parsed, unless a function may look at it: %s',
    async (by) => {
      const limit = readBodyFirst(rateLimit({ name: 'api', points: 1, seconds: 60, by }, limits));
      const app = bareApp([...before, bodyParser({ limitBytes: 100, defer: true }), limit, readBodyFirst(answer)]);
      const statuses = [];
      for (const body of ['{}', 'no JSON'])
        statuses.push((await request(app).post('/').type('json').send(body)).status);
      expect(statuses).toEqual([200, typeof by === 'string' ? 429 : 400]);
    },
  );

  it('tells on every answer what is allowed and what is left', async () => {
    const get = limited({ name: 'api', points: 3, seconds: 60 });
    const { headers } = await get();
    expect(headers['ratelimit-policy']).toBe('"api";q=3;w=60');
    expect(headers['ratelimit']).toBe('"api";r=2;t=60');
    expect((await get()).headers['ratelimit']).toMatch(/^"api";r=1;t=\d+$/);
  });

  it('answers 429 with Retry-After and the one error body beyond it', async () => {
    const get = limited({ name: 'api', points: 1, seconds: 60 });
    counted.length = 0;
    expect((await get()).status).toBe(200);
    const { status, headers, body } = await get();
    expect(counted).toEqual(['api']);
    expect([status, headers['ratelimit']]).toEqual([429, '"api";r=0;t=60']);
    expect(headers['retry-after']).toBe('60');
    expect(body).toEqual({
      success: false,
      message: 'Too many requests; try again in 60 s',
      statusCode: 429,
      timestamp: expect.any(String),
    });
  });

  it('lets the client in again when the window is over', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const get = limited({ name: 'api', points: 1, seconds: 2 });
      expect([(await get()).status, (await get()).status]).toEqual([200, 429]);
      vi.setSystemTime(Date.now() + 2001);
      expect((await get()).status).toBe(200);
    } finally {
      vi.useRealTimers();
    }
  });

  it('counts each address by itself, and a /64 of IPv6 as one', async () => {
    const get = limited({ name: 'api', points: 1, seconds: 60 });
    for (const address of ['192.0.2.1', '192.0.2.2', '2001:db8::1']) expect((await get(address)).status).toBe(200);
    for (const address of ['192.0.2.1', '::ffff:192.0.2.2', '2001:db8::ffff']) {
      expect((await get(address)).status).toBe(429);
    }
  });

  it('believes no X-Forwarded-For unless a proxy is trusted', async () => {
    const app = bareApp([...before, rateLimit({ name: 'api', points: 1, seconds: 60 }, limits), answer]);
    const statuses = [];
    for (const address of ['192.0.2.1', '192.0.2.2']) {
      statuses.push((await request(app).get('/').set('x-forwarded-for', address)).status);
    }
    expect(statuses).toEqual([200, 429]);
  });

  it('counts users by user wherever they come from, and others by address', async () => {
    const get = limited({ name: 'api', points: 1, seconds: 60, by: 'user' });
    expect([(await get('192.0.2.1', 'eva')).status, (await get('192.0.2.2', 'eva')).status]).toEqual([200, 429]);
    expect([(await get('192.0.2.1')).status, (await get('192.0.2.1')).status]).toEqual([200, 429]);
  });

  it('does not limit what its function names no key for', async () => {
    const get = limited({ name: 'api', points: 1, seconds: 60, by: (req) => req.headers['x-user'] as string });
    expect([(await get()).status, (await get()).status]).toEqual([200, 200]);
    expect([(await get('1.1.1.1', 'a')).status, (await get('1.1.1.2', 'a')).status]).toEqual([200, 429]);
  });

  it('tells nothing of a limit without headers but that it is reached', async () => {
    const get = limited(
      { name: 'api', points: 9, seconds: 10 },
      { name: 'quiet', points: 1, seconds: 60, headers: false },
    );
    for (const [index, status] of [200, 429].entries()) {
      const answered = await get();
      expect([answered.status, answered.headers['ratelimit-policy']]).toEqual([status, '"api";q=9;w=10']);
      expect(answered.headers['ratelimit']).toMatch(new RegExp(`^"api";r=${8 - index};t=\\d+$`));
    }
  });

  it('tells several limits of one route as lists', async () => {
    const get = limited({ name: 'api', points: 9, seconds: 10 }, { name: 'login', points: 2, seconds: 60 });
    const { headers } = await get();
    expect(headers['ratelimit-policy']).toBe('"api";q=9;w=10, "login";q=2;w=60');
    expect(headers['ratelimit']).toBe('"api";r=8;t=10, "login";r=1;t=60');
  });

  it('lets all pass, without a header, while it is switched off', async () => {
    await limits.open({ RATE_LIMIT_ENABLED: false, REDIS_URL: undefined });
    const get = limited({ name: 'api', points: 1, seconds: 60 });
    await get();
    const { status, headers } = await get();
    expect([status, headers['ratelimit']]).toEqual([200, undefined]);
  });

  it('refuses a name that would not fit a header', () => {
    expect(() => rateLimit({ name: 'a "b"', points: 1, seconds: 1 }, limits)).toThrow(
      /Expected a rate limit's name of letters/,
    );
  });
});
