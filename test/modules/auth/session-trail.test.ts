import { expect, it } from 'vitest';
import { newAccount, sendAs } from '../support/accounts.ts';
import { bootTestApp } from '../support/boot-test-app.ts';
import { untilLockWait } from '../support/lock-wait.ts';
import { beyondScopes } from '../support/order-shop.ts';

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

it('the end of a session is told once, also where its address is forgotten after a logout', async () => {
  const { id, tokens, logIn } = await newAccount(app);
  const first = await app.orm.session.findFirstOrThrow({ where: { userId: id } });
  const later = await logIn();
  expect((await app.post('/auth/logout', { refreshToken: tokens.refreshToken })).status).toBe(204);
  const forget = () => sendAs(app, later, 'delete', `/auth/sessions/${first.id}`);
  expect((await forget()).status).toBe(204);
  expect((await forget()).status).toBe(404);
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

it('a logout that is stored while a second use of a token waits is told alone, and its address stays known', async () => {
  const { id, tokens } = await newAccount(app);
  await refresh(tokens.refreshToken).expectData();
  const [ended, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { id: session } = await app.orm.session.findFirstOrThrow({ where: { userId: id } });
  const sessions = app.service.container.cradle.sessionRepository;
  const ending = beyondScopes(app, () =>
    sessions.unitOfWork(async () => {
      await sessions.end(session);
      ended.resolve();
      await seen.promise;
    }),
  );
  await ended.promise;
  const reusing = refresh(tokens.refreshToken).then((answer) => answer);
  await untilLockWait(app);
  seen.resolve();
  await ending;
  expect((await reusing).status).toBe(401);
  expect(await app.count('session', { userId: id })).toBe(1);
  expect(await traces('session.reused', id)).toBe(0);
});
