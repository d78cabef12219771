import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Method, registerAccount, sendAs, type Tokens } from '../support/accounts.ts';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp({ env: { AUTH_SESSION_MAX_DAYS: '7', AUTH_REFRESH_TOKEN_TTL_DAYS: '30' } });
const refusal = 'The refresh token is invalid or has expired; log in again';

const as = (tokens: Tokens, method: Method, path: string, body?: object) => sendAs(app, tokens, method, path, body);
const refresh = ({ refreshToken }: Tokens) => app.post('/auth/refresh', { refreshToken });

describe('GET /auth/sessions', () => {
  it("lists the caller's sessions that are alive, with where they are from, and marks its own", async () => {
    const [{ logIn }, other] = [await registerAccount(app), await registerAccount(app)];
    const [phone, laptop, ended] = [await logIn('a phone'), await logIn('a laptop'), await logIn('ended')];
    await other.logIn();
    await app.post('/auth/logout', { refreshToken: ended.refreshToken });
    const sessions = await as(phone, 'get', '/auth/sessions').expectData();
    const shown = sessions.map(({ userAgent, current }: Record<string, unknown>) => [userAgent, current]);
    expect(shown.sort()).toEqual([
      ['a laptop', false],
      ['a phone', true],
    ]);
    expect(Object.keys(sessions[0]).sort()).toEqual(
      ['address', 'createdAt', 'current', 'expiresAt', 'id', 'lastUsedAt', 'userAgent'].sort(),
    );
    expect(sessions[0].address).toBe('127.0.0.1');
    await refresh(laptop).expectData();
  });

  it('tells of the client without the secrets that its name holds', async () => {
    const { logIn } = await registerAccount(app);
    const sessions = await as(await logIn('shop password=abc'), 'get', '/auth/sessions').expectData();
    expect(sessions[0].userAgent).toBe('shop password=[redacted]');
  });

  it('answers 401 to nobody', async () => {
    expect((await app.get('/auth/sessions')).status).toBe(401);
  });
});

describe('DELETE /auth/sessions/:id', () => {
  it('ends one session and no other', async () => {
    const { logIn } = await registerAccount(app);
    const [mine, lost] = [await logIn(), await logIn('lost')];
    const sessions = await as(mine, 'get', '/auth/sessions').expectData();
    const { id } = sessions.find(({ userAgent }: { userAgent: string }) => userAgent === 'lost');
    expect((await as(mine, 'delete', `/auth/sessions/${id}`)).status).toBe(204);
    await refresh(lost).expectError(401, refusal);
    await refresh(mine).expectData();
    await as(mine, 'delete', `/auth/sessions/${id}`).expectError(404, 'Session not found');
  });

  it("answers 404 to another user's session, which lives on, and to one that is not there", async () => {
    const [victim, mallory] = [await registerAccount(app), await registerAccount(app)];
    const [theirs, mine] = [await victim.logIn(), await mallory.logIn()];
    const { id } = await app.orm.session.findFirstOrThrow({ where: { userId: victim.id } });
    await as(mine, 'delete', `/auth/sessions/${id}`).expectError(404, 'Session not found');
    for (const other of [randomUUID(), 'x', '%00']) {
      await as(mine, 'delete', `/auth/sessions/${other}`).expectError(404, 'Session not found');
    }
    await refresh(theirs).expectData();
  });

  it('answers 401 to nobody', async () => {
    expect((await app.delete(`/auth/sessions/${randomUUID()}`)).status).toBe(401);
  });
});

describe('POST /auth/logout-all', () => {
  it('ends all sessions of the caller and of nobody else', async () => {
    const [user, other] = [await registerAccount(app), await registerAccount(app)];
    const [one, two, theirs] = [await user.logIn(), await user.logIn(), await other.logIn()];
    expect((await as(one, 'post', '/auth/logout-all')).status).toBe(204);
    for (const tokens of [one, two]) await refresh(tokens).expectError(401, refusal);
    expect((await as(two, 'post', '/auth/logout-all')).status).toBe(401);
    await refresh(theirs).expectData();
  });

  it('answers 401 to nobody', async () => {
    expect((await app.post('/auth/logout-all')).status).toBe(401);
  });
});

describe('a session', () => {
  it('lives AUTH_SESSION_MAX_DAYS at most, however long its refresh token would hold', async () => {
    const { id, logIn } = await registerAccount(app);
    const before = Date.now();
    await logIn();
    const { expiresAt, endsAt } = await app.orm.session.findFirstOrThrow({ where: { userId: id } });
    expect(expiresAt).toEqual(endsAt);
    expect(endsAt.getTime() - before).toBeGreaterThan(7 * 86_400_000 - 1);
    expect(endsAt.getTime() - before).toBeLessThan(7 * 86_400_000 + 60_000);
  });
});
