import { describe, expect, it, onTestFinished } from 'vitest';
import type { Database } from '../../../src/chassis/database/client/database.ts';
import { forgetInTime, openSeenSignatures } from '../../../src/chassis/webhooks/seen-signatures.ts';
import { databaseProviders, openEmptyDatabase } from '../../support/empty-database.ts';

it('the signature of a webhook that failed while the database was away is forgotten once that is back', async () => {
  let isAway = true;
  const forgotten: string[] = [];
  const forget = async ({ id }: { id: string }) => {
    if (isAway) throw new Error('the database is away');
    forgotten.push(id);
  };
  const logged: unknown[] = [];
  const back = setTimeout(() => {
    isAway = false;
  }, 300);
  onTestFinished(() => clearTimeout(back));
  await forgetInTime(
    { forget },
    { id: 'one', owner: 'a request' },
    { error: (...line: unknown[]) => void logged.push(line) },
  );
  expect(forgotten).toEqual([]);
  await expect.poll(() => forgotten, { timeout: 5000 }).toEqual(['one']);
  expect(logged).toEqual([]);
});

describe.each([...databaseProviders, 'memory' as const])('signatures in %s', (place) => {
  const minute = 60_000;
  const log = { warn: () => undefined };

  async function openSeen() {
    if (place === 'memory') return openSeenSignatures({ isOpen: false } as Database, log);
    const open = await openEmptyDatabase(place);
    onTestFinished(() => open.close());
    return openSeenSignatures({ isOpen: true, client: open.client } as Database, log);
  }

  it('that are forgotten late stay with who was accepted with them since then', async () => {
    const seen = await openSeen();
    const first = await seen.add('one', minute);
    if (!first) throw new Error('Expected the first to be accepted.');
    expect(await seen.add('one', minute)).toBeUndefined();
    let tries = 0;
    // The database has done it, but its answer is lost.
    const forget = async (receipt: typeof first) => {
      await seen.forget(receipt);
      tries += 1;
      if (tries === 1) throw new Error('the connection was closed');
    };
    await forgetInTime({ forget }, first, { error: () => undefined });
    expect(await seen.add('one', minute)).toBeDefined();
    await expect.poll(() => tries).toBe(2);
    expect(await seen.add('one', minute)).toBeUndefined();
  });

  it('that have expired are those of who is accepted with them next', async () => {
    const seen = await openSeen();
    // The first of all has expired ones removed.
    await seen.add('another', minute);
    const first = await seen.add('one', -1);
    expect(await seen.add('one', minute)).toBeDefined();
    if (first) await seen.forget(first);
    expect(await seen.add('one', minute)).toBeUndefined();
  });
});
