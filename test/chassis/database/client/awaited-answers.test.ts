import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { AwaitedAnswers, idleTime } from '../../../../src/chassis/database/client/costly-work.ts';

function keepBusy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe('AwaitedAnswers', () => {
  it('counts all of the time in which the event loop was idle', async () => {
    const since = { at: performance.now(), idleMs: idleTime() };
    // Long enough that it does not matter when the processor was with another process for a moment.
    await wait(500);
    expect(new AwaitedAnswers().part(since.at, since, performance.now())).toBeGreaterThan(0.8);
  });

  it('counts nothing of a turn in which the answer may have come and waited', async () => {
    const since = { at: performance.now(), idleMs: idleTime() };
    keepBusy(100);
    await nextTurn();
    expect(new AwaitedAnswers().part(since.at, since, performance.now())).toBeLessThan(0.2);
  });

  it('counts the turns before the last one of a loop that is never idle, in each of which the answer would have been read', async () => {
    const awaited = new AwaitedAnswers();
    const since = { at: performance.now(), idleMs: idleTime() };
    for (let turn = 0; turn < 10; turn += 1) {
      const sent = { at: performance.now(), idleMs: idleTime() };
      keepBusy(30);
      await nextTurn();
      expect(awaited.part(sent.at, sent, performance.now())).toBeLessThan(0.2);
    }
    const part = awaited.part(since.at, since, performance.now());
    expect(part).toBeGreaterThan(0.6);
    expect(part).toBeLessThan(0.95);
  });
});
