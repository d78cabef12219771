import { beforeEach, describe, expect, it } from 'vitest';
import {
  callerKey,
  currentWaiters,
  getRequestContext,
  isAbandoned,
  runWithRequestContext,
  serviceKey,
} from '../../../src/chassis/context/request-context.ts';
import { OpenRequest } from '../../../src/chassis/http/pipeline/request-context-of.ts';
import { Health } from '../../../src/chassis/lifecycle/health.ts';
import { memoryLog } from '../http/bare-app.ts';

let health: Health;

beforeEach(() => {
  health = new Health({ logger: memoryLog().logger });
  health.enter('serving');
});

describe('readiness', () => {
  it('holds when every check holds', async () => {
    health.add('queue', async () => undefined);
    health.add('database', async () => 1);
    expect(await health.readiness()).toEqual({ ready: true, checks: { queue: 'ok', database: 'ok' } });
  });

  it('names the check that fails, without its reason, also one that throws before it waits', async () => {
    health.add('queue', () => {
      throw new Error('password of the queue');
    });
    health.add('database', async () => 1);
    expect(await health.readiness()).toEqual({ ready: false, checks: { queue: 'failed', database: 'ok' } });
  });

  it('holds only while the service serves, whatever the checks say, and asks none', async () => {
    let asked = 0;
    health.add('database', async () => {
      asked += 1;
    });
    health.enter('starting');
    expect(await health.readiness()).toEqual({ ready: false, checks: { service: 'starting' } });
    health.enter('shutting down');
    expect(await health.readiness()).toEqual({ ready: false, checks: { service: 'shutting down' } });
    expect(asked).toBe(0);
    health.enter('serving');
    expect((await health.readiness()).ready).toBe(true);
  });

  it('turns off at once when shutting down begins, although an answer is cached', async () => {
    health.add('database', async () => 1);
    expect((await health.readiness()).ready).toBe(true);
    health.enter('shutting down');
    expect((await health.readiness()).ready).toBe(false);
  });

  it('is no matter of the request that asks, whose client may be gone or out of time', async () => {
    const callers: string[] = [];
    health.add('database', async () => {
      callers.push(callerKey(getRequestContext()));
      if (isAbandoned(currentWaiters())) throw new Error('nobody waits');
    });
    const nothing = { userAgent: undefined, deadline: 1 };
    const request = new OpenRequest({
      requestId: 'a',
      method: 'GET',
      url: '/readyz',
      ipAddress: '192.0.2.1',
      ...nothing,
    });
    request.abort('gone');
    expect((await runWithRequestContext(request, () => health.readiness())).ready).toBe(true);
    expect(callers).toEqual([serviceKey]);
  });

  it('asks each check once, however many ask within a second', async () => {
    let asked = 0;
    health.add('database', async () => {
      asked += 1;
    });
    await Promise.all(Array.from({ length: 100 }, () => health.readiness()));
    expect(asked).toBe(1);
  });

  it('counts a check that hangs as failed after a second, tells it so, and calls it no second time', async () => {
    let asked = 0;
    let aborted = false;
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    health.add('hanging', (signal) => {
      asked += 1;
      signal.addEventListener('abort', () => {
        aborted = true;
      });
      return released;
    });
    const began = performance.now();
    expect(await health.readiness()).toEqual({ ready: false, checks: { hanging: 'timed out' } });
    expect(performance.now() - began).toBeLessThan(2000);
    expect(aborted).toBe(true);
    health.enter('serving');
    expect((await health.readiness()).ready).toBe(false);
    expect(asked).toBe(1);
    release();
    health.enter('serving');
    expect((await health.readiness()).ready).toBe(true);
    health.enter('serving');
    expect((await health.readiness()).ready).toBe(true);
    expect(asked).toBe(2);
  });

  it('replaces a check of the same name', async () => {
    health.add('database', async () => Promise.reject(new Error('away')));
    health.add('database', async () => 1);
    expect((await health.readiness()).ready).toBe(true);
  });
});
