import { describe, expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp();
const user = { email: 'ada@example.com', password: 'correct horse battery' };
await app.post('/auth/register', { ...user, name: 'Ada' }).expectData(201);

describe('POST /auth/login', () => {
  it('answers 200 with an access token, a refresh token and the life of the first, for no cache', async () => {
    const response = await app.post('/auth/login', user);
    expect(response.status).toBe(200);
    expect(response.headers['cache-control']).toBe('no-store');
    const accessToken = expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    const refreshToken = expect.stringMatching(/^[\w-]{86}$/);
    expect(response.body).toEqual({ success: true, data: { accessToken, refreshToken, expiresIn: 900 } });
  });

  it('takes the address in any spelling', async () => {
    await app.post('/auth/login', { ...user, email: ' ADA@example.COM ' }).expectData();
  });

  it('answers a wrong password and an unknown address with the same 401', async () => {
    const wrong = await app.post('/auth/login', { ...user, password: 'wrong horse battery' });
    const unknown = await app.post('/auth/login', { ...user, email: 'nobody@example.com' });
    expect(wrong.status).toBe(401);
    expect(wrong.body.message).toBe('The e-mail address or the password is wrong');
    expect(alike(unknown)).toEqual(alike(wrong));
  });

  it('asks the database the same for a known address and an unknown one, whose times nobody can tell apart', async () => {
    const counts = async () => {
      const text = await (await fetch(`${app.internalUrl}/metrics`)).text();
      return new Map(
        [...text.matchAll(/^database_query_duration_seconds_count(\{.*\}) (\d+)$/gm)].map(([, of, n]) => [
          of,
          Number(n),
        ]),
      );
    };
    const asked = async (email: string) => {
      const before = await counts();
      await app.post('/auth/login', { email, password: 'wrong horse battery' }).expectError(401, /wrong/);
      return new Map([...(await counts())].map(([of, count]) => [of, count - (before.get(of) ?? 0)]));
    };
    // Jobs look for work meanwhile, now and then: what a login asks, it asks each time.
    const always = async (email: string) => {
      const times = [await asked(email), await asked(email), await asked(email)];
      const least = [...(times[0] ?? [])].map(
        ([of]) => [of, Math.min(...times.map((more) => more.get(of) ?? 0))] as const,
      );
      return least.filter(([, count]) => count > 0);
    };
    await app.post('/auth/login', { ...user, password: 'wrong horse battery' });
    const known = await always(user.email);
    expect(known.length).toBeGreaterThan(1);
    expect(await always('nobody@example.com')).toEqual(known);
  });

  it('answers 401 to a user whose stored hash is none', async () => {
    const { email } = await app.make('user', { email: 'broken@example.com', passwordHash: 'none' });
    await app.post('/auth/login', { email, password: 'none' }).expectError(401, /wrong/);
  });

  it.each([
    ['no password', { email: user.email }],
    ['a password that is no text', { ...user, password: { $ne: '' } }],
    ['a password beyond 128 characters', { ...user, password: 'x'.repeat(129) }],
    ['an unknown field', { ...user, remember: true }],
    ['no e-mail address', { email: 'ada', password: user.password }],
  ])('answers 400 to %s', async (_case, body) => {
    await app.post('/auth/login', body).expectError(400, 'Validation Failed');
  });
});

/** What a client could tell two answers apart by. */
function alike({ status, body, headers }: { status: number; body: object; headers: Record<string, string> }) {
  const { date: _date, 'x-request-id': _id, ratelimit: _left, ...rest } = headers;
  return { status, body: { ...body, timestamp: '' }, headers: rest };
}
