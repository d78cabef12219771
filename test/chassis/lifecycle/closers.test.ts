import { describe, expect, it } from 'vitest';
import { Closers } from '../../../src/chassis/lifecycle/closers.ts';

describe('Closers', () => {
  it('closes in reverse, all of them, also after one failed, and joins the errors', async () => {
    const closed: string[] = [];
    const closers = new Closers(1000);
    closers.add('first', () => closed.push('first'));
    closers.add('second', () => Promise.reject(new Error('stuck')));
    closers.add('third', () => closed.push('third'));
    await expect(closers.closeAll()).rejects.toThrow('Closing second failed');
    expect(closed).toEqual(['third', 'first']);
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
