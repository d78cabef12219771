import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { newAccount, password, sendAs } from '../support/accounts.ts';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp();
const newPassword = 'another horse battery';

const logIn = (email: string) => app.post('/auth/login', { email, password });
const refresh = (refreshToken: string) => app.post('/auth/refresh', { refreshToken });
/** A round hashes a dozen passwords, two at a time. */
const timeout = 60_000;
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

/** How many of these answers carry a refresh token that still works. */
async function alive(answers: readonly { status: number; body: { data?: { refreshToken?: string } } }[]) {
  const tokens = answers.flatMap(({ status, body }) => (status === 200 ? [body.data?.refreshToken as string] : []));
  const statuses = await Promise.all(tokens.map(async (token) => (await refresh(token)).status));
  return { opened: tokens.length, alive: statuses.filter((status) => status === 200).length };
}

describe('of a password change nothing survives:', () => {
  it.each([
    ['by its user', 'own'],
    ['by an administrator', 'reset'],
  ])('no login of 50 with the old password, %s', { timeout }, async (_who, kind) => {
    let opened = 0;
    for (let round = 0; round < 5; round += 1) {
      const { email, path, tokens } = await newAccount(app);
      const change = () =>
        kind === 'own'
          ? sendAs(app, tokens, 'put', '/auth/password', { currentPassword: password, newPassword })
          : app.as('admin').put(path, { password: newPassword });
      // The change stands at another place in the queue of passwords in each round.
      const logins = times(10, (index) => (index === round * 2 ? [change(), logIn(email)] : [logIn(email)]));
      const answers = await Promise.all(logins.flat());
      const [changed] = answers.splice(round * 2, 1);
      expect(changed?.status).toBe(200);
      const result = await alive(answers);
      expect(result.alive).toBe(0);
      opened += result.opened;
      await app.post('/auth/login', { email, password: newPassword }).expectData();
    }
    // Some came first, or nothing was at stake.
    expect(opened).toBeGreaterThan(0);
  });

  it.each([
    ['by its user', 'own'],
    ['by an administrator', 'reset'],
  ])('no refresh token that is exchanged meanwhile, %s', { timeout }, async (_who, kind) => {
    for (let round = 0; round < 4; round += 1) {
      const { email, path, tokens } = await newAccount(app);
      const others = await Promise.all(times(5, async () => (await logIn(email).expectData()).refreshToken));
      const change =
        kind === 'own'
          ? sendAs(app, tokens, 'put', '/auth/password', { currentPassword: password, newPassword })
          : app.as('admin').put(path, { password: newPassword });
      let over = false;
      const chains = others.map(async (first) => {
        let token = first;
        for (;;) {
          const last = over;
          const answer = await refresh(token);
          if (answer.status !== 200) return undefined;
          token = answer.body.data.refreshToken;
          if (last) return token;
        }
      });
      expect((await change).status).toBe(200);
      over = true;
      expect(await Promise.all(chains)).toEqual(others.map(() => undefined));
    }
  });
});

describe('a refresh token', () => {
  it('that is used 8 times at once is exchanged at most once, and what it gave does not work', async () => {
    const { email } = await newAccount(app);
    const tokens = await Promise.all(times(10, async () => (await logIn(email).expectData()).refreshToken));
    for (const token of tokens) {
      const answers = await Promise.all(times(8, () => refresh(token)));
      const result = await alive(answers);
      expect(result.opened).toBeLessThanOrEqual(1);
      expect(result.alive).toBe(0);
    }
  });
});

describe('of a logout nothing survives:', () => {
  it('no refresh token that is exchanged meanwhile', async () => {
    const { email } = await newAccount(app);
    const rounds = times(25, async () => {
      const { refreshToken } = await logIn(email).expectData();
      const [answer] = await Promise.all([refresh(refreshToken), app.post('/auth/logout', { refreshToken })]);
      return answer;
    });
    expect((await alive(await Promise.all(rounds))).alive).toBe(0);
  });

  it('no refresh token that is exchanged while its session is ended by its identifier', async () => {
    const { id, email, tokens } = await newAccount(app);
    const rounds = times(20, async () => {
      const { accessToken, refreshToken } = await logIn(email).expectData();
      const { sid } = decodeJwt<{ sid: string }>(accessToken);
      const end = sendAs(app, tokens, 'delete', `/auth/sessions/${sid}`);
      const [answer, { status }] = await Promise.all([refresh(refreshToken), end]);
      expect(status).toBe(204);
      return answer;
    });
    expect((await alive(await Promise.all(rounds))).alive).toBe(0);
    expect(await app.count('session', { userId: id })).toBe(1);
  });

  it('no session that was open before a logout everywhere', async () => {
    const { email, tokens } = await newAccount(app);
    const open = await Promise.all(times(10, async () => (await logIn(email).expectData()).refreshToken));
    const all = sendAs(app, tokens, 'post', '/auth/logout-all');
    const [end, ...answers] = await Promise.all([all, ...open.map(refresh)]);
    expect(end.status).toBe(204);
    expect((await alive(answers)).alive).toBe(0);
  });
});

describe('of a deleted account nothing survives:', () => {
  it('no login and no refresh token that is exchanged meanwhile, and none of them fails otherwise', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { id, email, path } = await newAccount(app);
      const open = await Promise.all(times(4, async () => (await logIn(email).expectData()).refreshToken));
      const logins = times(6, () => logIn(email));
      const remove = app.as('admin').delete(path);
      const answers = await Promise.all([...logins, ...open.map(refresh)]);
      expect((await remove).status).toBe(204);
      for (const { status } of answers) expect(status).toBeOneOf([200, 401]);
      expect((await alive(answers)).alive).toBe(0);
      expect(await app.count('session', { userId: id })).toBe(0);
    }
  });
});

describe('two administrators', () => {
  it('who demote each other at once do not both succeed after they were demoted, and no request hangs', async () => {
    for (let round = 0; round < 5; round += 1) {
      const [one, two] = [await newAccount(app), await newAccount(app)];
      await app.orm.user.updateMany({ where: { id: { in: [one.id, two.id] } }, data: { role: 'admin' } });
      const demotions = await Promise.all([
        sendAs(app, one.tokens, 'put', two.path, { role: 'user' }),
        sendAs(app, two.tokens, 'put', one.path, { role: 'user' }),
      ]);
      expect(demotions.map(({ status }) => status).sort()).toEqual([200, 403]);
      expect(await app.count('user', { id: { in: [one.id, two.id] }, role: 'admin' })).toBe(1);
    }
  });

  it('make no other administrator when one of them is demoted, however close the two requests are', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { path, tokens } = await newAccount(app);
      await app.as('admin').put(path, { role: 'admin' }).expectData();
      const raise = () => sendAs(app, tokens, 'put', path, { role: 'admin' });
      await Promise.all([raise(), app.as('admin').put(path, { role: 'user' }).expectData(), raise()]);
      // Whatever came before the demotion, nothing comes after it.
      expect((await raise()).status).toBe(403);
    }
  });
});
