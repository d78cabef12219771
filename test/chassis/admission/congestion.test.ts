import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { congestionOf } from '../../../src/chassis/admission/congestion.ts';

/** Keeps the event loop from doing anything else. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end) performance.now();
}

describe('congestionOf', () => {
  it('tells that the event loop had no time left', async () => {
    await turn();
    const isCongested = congestionOf(() => undefined);
    block(30);
    expect(isCongested()).toBe(true);
  });

  it('tells that more wait for a connection than there are', async () => {
    let waitingCount = 10;
    const isCongested = congestionOf(() => ({ totalCount: 10, idleCount: 0, waitingCount }));
    // On an idle loop, so that nothing but the pool can be what is congested.
    await expect.poll(isCongested).toBe(false);
    waitingCount = 11;
    expect(isCongested()).toBe(true);
  });
});
