import { expect, it, onTestFinished } from 'vitest';
import { forgetInTime } from '../../../src/chassis/webhooks/seen-signatures.ts';

it('the signature of a webhook that failed while the database was away is forgotten once that is back', async () => {
  let isAway = true;
  const forgotten: string[] = [];
  const forget = async (id: string) => {
    if (isAway) throw new Error('the database is away');
    forgotten.push(id);
  };
  const logged: unknown[] = [];
  const back = setTimeout(() => {
    isAway = false;
  }, 300);
  onTestFinished(() => clearTimeout(back));
  await forgetInTime({ forget }, 'one', { error: (...line: unknown[]) => void logged.push(line) });
  expect(forgotten).toEqual([]);
  await expect.poll(() => forgotten, { timeout: 5000 }).toEqual(['one']);
  expect(logged).toEqual([]);
});
