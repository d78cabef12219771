import { describe, expect, it } from 'vitest';
import { Closers } from '../../../src/chassis/lifecycle/closers.ts';

describe('Closers', () => {
  it('closes in reverse, all of them, also after one failed, and joins the errors', async () => {
    const closed: string[] = [];
    const closers = new Closers(1000);
    closers.add('first', () => closed.push('first'));
    closers.add('second', () => Promise.reject(new Error('stuck')));
    closers.add('third', () => closed.push('third'));
    closers.add('fourth', () => {
      throw new Error('broken');
    });
    await expect(closers.closeAll()).rejects.toThrow('Closing fourth failed: broken; Closing second failed: stuck');
    expect(closed).toEqual(['third', 'first']);
  });

  it('gives up what hangs after its own time, and closes the rest', async () => {
    const closed: string[] = [];
    const closers = new Closers(60_000);
    closers.add('first', () => closed.push('first'));
    closers.add('hanging', () => new Promise(() => undefined), 20);
    await expect(closers.closeAll()).rejects.toThrow('Closing hanging failed: not done within 20 ms');
    expect(closed).toEqual(['first']);
  });

  it('takes twice the time of one for all together, however many hang', async () => {
    const closed: string[] = [];
    const closers = new Closers(100);
    closers.add('quick', () => closed.push('quick'));
    for (const name of ['f', 'e', 'd', 'c', 'b', 'a']) closers.add(name, () => new Promise(() => undefined));
    const began = performance.now();
    await expect(closers.closeAll()).rejects.toThrow('Closing a failed: not done within 100 ms; Closing b failed');
    expect(performance.now() - began).toBeLessThan(500);
    expect(closed).toEqual(['quick']);
  });

  it('closes nothing twice', async () => {
    let times = 0;
    const closers = new Closers(1000);
    closers.add('once', () => times++);
    await closers.closeAll();
    await closers.closeAll();
    expect(times).toBe(1);
  });
});
