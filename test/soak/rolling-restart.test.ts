import { afterAll, describe, expect, it } from 'vitest';
import { emptyDatabase } from '../support/empty-database.ts';
import { killSpawned } from '../support/spawn-service.ts';
import { rollingRestart } from './rolling-restart.ts';

const trials = 6;

afterAll(killSpawned);

// All 24 trials: node test/soak/rolling-restart.ts
describe('two instances on one port, restarted one after the other under load', () => {
  it('fail no request, lose no write, and exit with code 0', { timeout: 90_000 }, async () => {
    const { settings, remove } = await emptyDatabase('postgresql');
    const { failed, requests, created, codes } = await rollingRestart(settings.DATABASE_URL, trials);
    await remove();
    expect(failed).toEqual([]);
    expect(requests).toBeGreaterThan(trials * 100);
    expect(created.found).toBe(created.answered);
    expect(created.answered).toBeGreaterThan(trials);
    expect(codes).toEqual(Array(trials).fill(0));
  });
});
