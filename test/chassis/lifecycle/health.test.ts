import { beforeEach, describe, expect, it } from 'vitest';
import { addHealthCheck, enterPhase, readiness, resetHealthChecks } from '../../../src/chassis/lifecycle/health.ts';

beforeEach(() => {
  resetHealthChecks();
  enterPhase('serving');
});

describe('readiness', () => {
  it('holds when every check holds', async () => {
    addHealthCheck('queue', async () => undefined);
    addHealthCheck('database', async () => 1);
    expect(await readiness()).toEqual({ ready: true, checks: { queue: 'ok', database: 'ok' } });
  });

  it('names the check that fails, without its reason, also one that throws before it waits', async () => {
    addHealthCheck('queue', () => {
      throw new Error('password of the queue');
    });
    addHealthCheck('database', async () => 1);
    expect(await readiness()).toEqual({ ready: false, checks: { queue: 'failed', database: 'ok' } });
  });

  it('holds only while the service serves, whatever the checks say, and asks none', async () => {
    let asked = 0;
    addHealthCheck('database', async () => {
      asked += 1;
    });
    enterPhase('starting');
    expect(await readiness()).toEqual({ ready: false, checks: { service: 'starting' } });
    enterPhase('shutting down');
    expect(await readiness()).toEqual({ ready: false, checks: { service: 'shutting down' } });
    expect(asked).toBe(0);
    enterPhase('serving');
    expect((await readiness()).ready).toBe(true);
  });

  it('turns off at once when shutting down begins, although an answer is cached', async () => {
    addHealthCheck('database', async () => 1);
    expect((await readiness()).ready).toBe(true);
    enterPhase('shutting down');
    expect((await readiness()).ready).toBe(false);
  });

  it('asks each check once, however many ask within a second', async () => {
    let asked = 0;
    addHealthCheck('database', async () => {
      asked += 1;
    });
    await Promise.all(Array.from({ length: 100 }, () => readiness()));
    expect(asked).toBe(1);
  });

  it('counts a check that hangs as failed after a second, tells it so, and calls it no second time', async () => {
    let asked = 0;
    let aborted = false;
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    addHealthCheck('hanging', (signal) => {
      asked += 1;
      signal.addEventListener('abort', () => {
        aborted = true;
      });
      return released;
    });
    const began = performance.now();
    expect(await readiness()).toEqual({ ready: false, checks: { hanging: 'timed out' } });
    expect(performance.now() - began).toBeLessThan(2000);
    expect(aborted).toBe(true);
    enterPhase('serving');
    expect((await readiness()).ready).toBe(false);
    expect(asked).toBe(1);
    release();
    enterPhase('serving');
    expect((await readiness()).ready).toBe(true);
    enterPhase('serving');
    expect((await readiness()).ready).toBe(true);
    expect(asked).toBe(2);
  });

  it('replaces a check of the same name', async () => {
    addHealthCheck('database', async () => Promise.reject(new Error('away')));
    addHealthCheck('database', async () => 1);
    expect((await readiness()).ready).toBe(true);
  });
});
