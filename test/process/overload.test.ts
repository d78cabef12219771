import { existsSync } from 'node:fs';
import process from 'node:process';
import { afterAll, describe, expect, it } from 'vitest';
import { emptyDatabase } from '../support/empty-database.ts';
import { killSpawned } from '../support/spawn-service.ts';
import { fairShare } from './fair-share.ts';
import { boot, overload } from './overload.ts';

afterAll(killSpawned);

// Half a minute of it, with its figures: node test/process/overload.ts, on a quiet machine. Times and rates depend on what
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

describe.skipIf(process.platform !== 'linux')(
  'a client that sends the costliest lists (needs more than one loopback address)',
  () => {
    it('takes none of 120 ordinary requests of others, whether it is refused or served', {
      timeout: 120_000,
    }, async () => {
      const { settings, remove } = await emptyDatabase('postgresql');
      const { service, url } = await boot(settings.DATABASE_URL);
      const { heavy, light } = await fairShare(url, 30);
      await service.end();
      await remove();
      expect(light.statuses).toEqual({ 200: 120 });
      expect(Object.keys(heavy.statuses).filter((status) => !['200', '429', '503'].includes(status))).toEqual([]);
    });
  },
);
