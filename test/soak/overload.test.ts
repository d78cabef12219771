import { existsSync } from 'node:fs';
import process from 'node:process';
import { afterAll, describe, expect, it } from 'vitest';
import { databaseProviders, emptyDatabase } from '../support/empty-database.ts';
import { killSpawned } from '../support/spawn-service.ts';
import { fairShare } from './fair-share.ts';
import { noisyNeighbour } from './noisy-neighbour.ts';
import { boot, overload } from './overload.ts';

afterAll(killSpawned);

// Half a minute of it, with its figures: node test/soak/overload.ts full, or small, on a quiet machine. Times and rates depend on what
// else runs, so this short form asks only for what must hold anywhere.
describe.skipIf(!existsSync('/proc/self/status'))('four times the load that the service can take (needs /proc)', () => {
  it('has it answer some, refuse others with 503, and live within its memory', { timeout: 120_000 }, async () => {
    const { settings, remove } = await emptyDatabase('postgresql');
    const { statuses, share, memory } = await overload(settings.DATABASE_URL, { warm: 2, full: 2, over: 4, after: 2 });
    await remove();
    expect(share).toBeGreaterThan(0.2);
    expect(statuses[503]).toBeGreaterThan(0);
    // 0 is a connection that a busy machine let wait too long.
    expect(Object.keys(statuses).filter((status) => !['0', '200', '503'].includes(status))).toEqual([]);
    expect(memory[1] - memory[0]).toBeLessThan(250);
  });
});

// With its figures: node test/soak/noisy-neighbour.ts, on a quiet machine of two cores.
describe.skipIf(process.platform !== 'linux')('a process that takes half of the core (needs taskset)', () => {
  it('has nothing refused to clients who wait for their answers, and only what waits for long to others', {
    timeout: 120_000,
  }, async () => {
    const { settings, remove } = await emptyDatabase('postgresql');
    const { closed, open, p50, after } = await noisyNeighbour(settings.DATABASE_URL, 4, 0);
    await remove();
    expect(Object.keys(closed)).toEqual(['200']);
    expect(Object.keys(open).filter((status) => !['0', '200', '503'].includes(status))).toEqual([]);
    // Half of the target, from which on who asks for more than others is refused.
    if (open[503]) expect(p50).toBeGreaterThan(250);
    expect(after[200]).toBeGreaterThan(0);
  });
});

// At this rate the database would have to answer each of them within 80 ms.
const heavyPerSecond = { postgresql: 60, sqlite: 12 };

describe.skipIf(process.platform !== 'linux').for(databaseProviders)(
  'a client that sends the costliest lists, with 100,000 products in %s (needs more than one loopback address)',
  (provider) => {
    it('is refused with 503, and takes none of 120 ordinary requests of others and no probe', {
      timeout: 180_000,
    }, async () => {
      const { settings, remove } = await emptyDatabase(provider);
      const { service, url } = await boot(settings.DATABASE_URL, 'full');
      const { heavy, light, probes } = await fairShare(url, heavyPerSecond[provider]);
      await service.end();
      await remove();
      expect(heavy.statuses[503]).toBeGreaterThan(0);
      expect(Object.keys(heavy.statuses).filter((status) => !['200', '503'].includes(status))).toEqual([]);
      expect(light.statuses).toEqual({ 200: 120 });
      expect(Object.keys(probes.statuses)).toEqual(['200']);
      // A statement on the thread of the event loop would let probes wait for seconds. Beside PostgreSQL, whose processes
      // compete with the service for the cores, a probe is only sure to wait for less than what also needs a connection.
      expect(probes.p50).toBeLessThan(provider === 'sqlite' ? 500 : light.p50);
    });
  },
);
