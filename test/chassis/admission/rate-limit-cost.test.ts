import type { RequestHandler } from 'express';
import request from 'supertest';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RateLimitPolicy, rateLimit } from '../../../src/chassis/admission/rate-limit.ts';
import { RateLimitStore } from '../../../src/chassis/admission/rate-limit-store.ts';
import { chargeRequest } from '../../../src/chassis/context/request-context.ts';
import { requestPipeline } from '../../../src/chassis/http/pipeline/request-pipeline.ts';
import { TestRedis, withoutRedis } from '../../support/redis.ts';
import { bareApp, memoryLog } from '../http/bare-app.ts';

const redis = withoutRedis === '' ? await TestRedis.start() : undefined;
afterAll(() => redis?.stop());

const { logger, lines } = memoryLog();
const limits = new RateLimitStore({ logger, metrics: { limited: () => undefined } });

/** Charges what the header names, in as many parts, then answers. */
const charging: RequestHandler = (req, res) => {
  for (const cost of String(req.headers['x-costs'] ?? '').split(',')) chargeRequest(Number(cost));
  res.json({ ok: true });
};

function limited(...policies: RateLimitPolicy[]) {
  const app = bareApp([requestPipeline(), ...policies.map((policy) => rateLimit(policy, limits)), charging]);
  return async (...costs: number[]) => {
    const { status, headers } = await request(app).get('/').set('x-costs', costs.join());
    return [status, headers['ratelimit']];
  };
}

const api = (points: number): RateLimitPolicy => ({ name: `api-${process.pid}`, points, seconds: 60 });
const state = (left: number) => expect.stringMatching(new RegExp(`^"api-\\d+";r=${left};t=\\d+$`));

describe('the cost of a request', () => {
  beforeEach(() => limits.open({ RATE_LIMIT_ENABLED: true, REDIS_URL: undefined }));
  afterEach(() => limits.close());

  it('takes a point for each 100 units, of which the first is paid at the door', async () => {
    const get = limited(api(100));
    expect(await get(0)).toEqual([200, state(99)]);
    expect(await get(100)).toEqual([200, state(98)]);
    expect(await get(101)).toEqual([200, state(96)]);
    expect(await get(1500)).toEqual([200, state(81)]);
  });

  it('is the sum of all that the request is charged', async () => {
    expect(await limited(api(100))(60, 60, 60)).toEqual([200, state(98)]);
  });

  it('is refused with 429 when the client has less left, who may still send what costs less', async () => {
    const get = limited(api(20));
    expect(await get(1500)).toEqual([200, state(5)]);
    expect(await get(1500)).toEqual([429, state(4)]);
    expect(await get(400)).toEqual([200, state(0)]);
    expect(await get(0)).toEqual([429, state(0)]);
  });

  it('is never beyond a client that has sent nothing', async () => {
    expect(await limited(api(3))(100_000)).toEqual([200, state(0)]);
  });

  it('is taken from every quota of the route, and told of each', async () => {
    const get = limited({ name: 'a', points: 50, seconds: 60 }, { name: 'b', points: 9, seconds: 60 });
    expect(await get(500)).toEqual([200, '"a";r=45;t=60, "b";r=4;t=60']);
  });
});

describe.skipIf(!redis)(`the cost of a request, with Redis${withoutRedis}`, () => {
  beforeEach(() => limits.open({ RATE_LIMIT_ENABLED: true, REDIS_URL: redis?.url }));
  afterEach(() => limits.close());

  it('is taken from what all replicas share', async () => {
    const get = limited(api(1000));
    const left = async (cost: number) => Number(/;r=(\d+)/.exec(String((await get(cost))[1]))?.[1]);
    // The first requests may come before the connection is there, and be counted in memory.
    await expect.poll(() => left(0)).toBeLessThan(999);
    await expect.poll(() => lines.filter(({ msg }) => msg.startsWith('Redis is away')).length).toBeLessThan(2);
    const before = await left(0);
    expect(await left(1000)).toBe(before - 10);
    await expect.poll(() => left(0)).toBeLessThan(before - 10);
  });

  it('is refused with 429 when the client has less left', async () => {
    const get = limited({ name: `few-${process.pid}`, points: 20, seconds: 60 });
    await expect.poll(async () => (await get(1000))[0]).toBe(429);
  });
});
