import { execFile } from 'node:child_process';
import { execPath } from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { collectGarbage, privateMemory } from '../../../src/chassis/config/private-memory.ts';
import { MemoryGuard } from '../../../src/chassis/lifecycle/memory-guard.ts';
import { memoryLog } from '../http/bare-app.ts';

const mib = 1_048_576;

/** A process of so much memory, part of which is garbage, and clients that hold some each until they are cut. */
function process({ held, garbage = 0, clients = 0 }: { held: number; garbage?: number; clients?: number }) {
  const { logger, lines } = memoryLog();
  const state = { held, garbage, clients, collections: 0, sweeps: 0 };
  const guard = new MemoryGuard({
    limitBytes: 256 * mib,
    logger,
    held: () => (state.held + state.garbage + state.clients) * mib,
    collect: () => {
      state.collections += 1;
      state.garbage = 0;
    },
    sweep: () => {
      state.sweeps += 1;
      state.garbage = 0;
    },
  });
  guard.add({
    watch: () => undefined,
    relieve: () => {
      const cut = Math.ceil(state.clients / 2);
      state.clients -= cut;
      return cut;
    },
  });
  /** Looks as often as it does in so many milliseconds. */
  async function looks(ms: number): Promise<void> {
    const stop = guard.start();
    await wait(ms);
    stop();
  }
  return { guard, state, looks, lines };
}

describe('the guard of the memory limit', () => {
  it('does nothing below seven tenths of the limit', async () => {
    const { guard, state, looks } = process({ held: 160, garbage: 10, clients: 4 });
    await looks(350);
    expect(state).toMatchObject({ collections: 0, clients: 4 });
    expect(guard.isShort).toBe(false);
  });

  it('cuts nobody where garbage was what filled the memory, and collects no more often than it must', async () => {
    const { guard, state, looks } = process({ held: 100, garbage: 110, clients: 10 });
    await looks(550);
    expect(state).toEqual({ held: 100, garbage: 0, clients: 10, collections: 1, sweeps: 0 });
    expect(guard.isShort).toBe(false);
  });

  it('has garbage collected before something large comes in where little memory is left, and says whether that was enough', async () => {
    const { guard, state } = process({ held: 150, garbage: 20 });
    expect([guard.hasRoom(), state.sweeps]).toEqual([true, 0]);
    state.garbage = 60;
    expect([guard.hasRoom(), state.sweeps]).toEqual([true, 1]);
    state.held = 200;
    expect([guard.hasRoom(), state.sweeps, state.collections]).toEqual([false, 1, 0]);
    await wait(150);
    expect([guard.hasRoom(), state.sweeps, state.collections]).toEqual([false, 2, 1]);
  });

  it('cuts halves of what waits for clients until memory is enough, and then begins long answers again', async () => {
    const { guard, state, looks, lines } = process({ held: 60, clients: 160 });
    await looks(1500);
    expect(state.clients).toBe(80);
    expect(guard.isShort).toBe(false);
    expect(lines.filter(({ msg }) => msg === 'memory short: waiting clients cut')).toHaveLength(1);
  });

  it('cuts them also where what comes in has had garbage collected a moment ago, once memory is critical', async () => {
    const { guard, state } = process({ held: 60, clients: 160 });
    guard.hasRoom();
    state.collections = 0;
    guard.look();
    expect(state).toMatchObject({ clients: 80, collections: 0 });
  });

  it('is short no longer once a collection leaves enough, also where nothing else collects any more', async () => {
    const { guard, state, looks } = process({ held: 210 });
    await looks(450);
    expect(guard.isShort).toBe(true);
    Object.assign(state, { held: 160, garbage: 10, collections: 0 });
    await looks(2500);
    expect([guard.isShort, state.collections]).toEqual([false, 1]);
  });

  it('stays short while there is too little, though nobody is left to be cut, and does not collect all the time', async () => {
    const { guard, state, looks } = process({ held: 210 });
    await looks(900);
    expect(guard.isShort).toBe(true);
    expect(state.collections).toBeLessThan(4);
  });
});

describe('memory that clients fill again and again', () => {
  /** A guard whose collections take their time and free nothing; counts them. */
  function slowGuard(heldMib: number) {
    const state = { collections: 0, sweeps: 0, ms: 0 };
    const take = (ms: number) => {
      const until = performance.now() + ms;
      while (performance.now() < until);
      state.ms += ms;
    };
    const guard = new MemoryGuard({
      limitBytes: 256 * mib,
      logger: memoryLog().logger,
      held: () => heldMib * mib,
      collect: () => {
        state.collections += 1;
        take(150);
      },
      sweep: () => {
        state.sweeps += 1;
        take(50);
      },
    });
    return { guard, state };
  }

  it('has the service collect for a fourth of its time at most', async () => {
    const { guard, state } = slowGuard(230);
    guard.add({ watch: () => undefined, relieve: () => 1 });
    const stop = guard.start();
    await wait(3000);
    stop();
    expect(state.ms).toBeGreaterThan(0);
    expect(state.ms).toBeLessThanOrEqual(900);
  });

  it('has it do so also while much waits to come in, for which the whole heap is not emptied again where that was in vain', async () => {
    const { guard, state } = slowGuard(200);
    const stop = guard.start();
    for (const end = performance.now() + 3000; performance.now() < end; await wait(5)) guard.hasRoom();
    stop();
    expect(state.sweeps).toBeGreaterThan(3);
    expect(state.collections).toBeLessThanOrEqual(3);
    expect(state.ms).toBeLessThanOrEqual(900);
  });
});

describe('the memory of this process', () => {
  it('is seen as it grows, and as a collection gives it back', () => {
    collectGarbage();
    const before = privateMemory();
    // Much more than what other tests of this process may have left to be given back.
    let kept: Buffer[] = Array.from({ length: 24 }, () => Buffer.alloc(8 * mib, 1));
    const full = privateMemory();
    expect(full - before).toBeGreaterThan(100 * mib);
    kept = kept.slice(24);
    collectGarbage();
    expect(full - privateMemory()).toBeGreaterThan(100 * mib);
    expect(kept).toEqual([]);
  });

  it('is told also where no file can be opened any more', async () => {
    const program = `
      const { privateMemory } = await import(${JSON.stringify(import.meta.resolve('../../../src/chassis/config/private-memory.ts'))});
      const { openSync } = await import('node:fs');
      privateMemory();
      try { for (;;) openSync('/dev/null'); } catch {}
      process.stdout.write(String(privateMemory()));`;
    const limited = ['-c', 'ulimit -n 200; exec "$@"', 'sh', execPath, '--input-type=module', '-e', program];
    const { stdout } = await promisify(execFile)('sh', limited);
    expect(Number(stdout)).toBeGreaterThan(10 * mib);
  });
});
