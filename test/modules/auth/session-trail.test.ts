import { expect, it } from 'vitest';
import { newAccount } from '../support/accounts.ts';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp();

/** Runs work while the audit trail takes nothing. */
async function withoutTrail<T>(work: () => PromiseLike<T>): Promise<T> {
  await app.orm.$executeRawUnsafe('ALTER TABLE "audit_events" RENAME TO "audit_events_away"');
  try {
    return await work();
  } finally {
    await app.orm.$executeRawUnsafe('ALTER TABLE "audit_events_away" RENAME TO "audit_events"');
  }
}

const refresh = (refreshToken: string) => app.post('/auth/refresh', { refreshToken });
const traces = (action: string, subjectId: string) => app.count('auditEvent', { action, subjectId });

it('a logout ends its session together with its trace in the trail, or not at all', async () => {
  const { id, tokens } = await newAccount(app);
  const logOut = () => app.post('/auth/logout', { refreshToken: tokens.refreshToken });
  expect((await withoutTrail(logOut)).status).toBe(500);
  expect(await app.count('session', { userId: id, endedAt: null })).toBe(1);
  expect((await logOut()).status).toBe(204);
  expect(await app.count('session', { userId: id, endedAt: null })).toBe(0);
  expect(await traces('session.ended', id)).toBe(1);
});

it('a second use of a refresh token revokes its session together with its trace in the trail, or not at all', async () => {
  const { id, tokens } = await newAccount(app);
  await refresh(tokens.refreshToken).expectData();
  expect((await withoutTrail(() => refresh(tokens.refreshToken))).status).toBe(500);
  expect(await app.count('session', { userId: id })).toBe(1);
  expect((await refresh(tokens.refreshToken)).status).toBe(401);
  expect(await app.count('session', { userId: id })).toBe(0);
  expect(await traces('session.reused', id)).toBe(1);
});
