import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { registerAccount } from '../support/accounts.ts';
import { bootTestApp } from '../support/boot-test-app.ts';

const day = 24 * 60 * 60 * 1000;
const daysAgo = (days: number) => new Date(Date.now() - days * day);
const inTime = () => AbortSignal.timeout(60_000);

it('old sessions are removed 90 days after they were over, of all accounts and in batches, and no others', async () => {
  const app = await bootTestApp();
  const { sessionService } = app.service.container.cradle;
  const removeOld = (signal: AbortSignal) => app.service.run(() => sessionService.removeOld(signal));
  const accounts = [await registerAccount(app), await registerAccount(app)];
  const session = (index: number, expiredDaysAgo: number) => ({
    id: randomUUID(),
    userId: accounts[index % 2]?.id as string,
    tokenHash: 'hash',
    address: '192.0.2.1',
    authenticatedAt: daysAgo(expiredDaysAgo + 30),
    lastUsedAt: daysAgo(expiredDaysAgo + 30),
    expiresAt: daysAgo(expiredDaysAgo),
    endsAt: daysAgo(expiredDaysAgo - 60),
  });
  const old = Array.from({ length: 2500 }, (_, index) => session(index, 90.1));
  const kept = [session(0, 89.9), session(1, -1), { ...session(0, -1), endedAt: daysAgo(100) }];
  await app.orm.session.createMany({ data: [...old, ...kept] });
  const stored = () => app.orm.session.count({ where: { tokenHash: 'hash' } });
  await removeOld(AbortSignal.abort());
  expect(await stored()).toBe(2503);
  await removeOld(inTime());
  const left = await app.orm.session.findMany({ where: { tokenHash: 'hash' }, select: { id: true } });
  expect(left.map(({ id }) => id).sort()).toEqual(kept.map(({ id }) => id).sort());
});
