import { describe, expect, it } from 'vitest';
import { bootTestApp } from '../../support/boot-test-app.ts';

const app = await bootTestApp({
  env: { AUTH_REQUESTS_PER_MINUTE: '6', AUTH_LOGINS_PER_ACCOUNT: '3', TRUST_PROXY: 'loopback' },
});

const post = (path: string, from: string, body: object) =>
  app.send((server) => server.post(path).set('X-Forwarded-For', from).send(body));
const login = (from: string, email: string) => post('/auth/login', from, { email, password: 'wrong password' });

describe('the rate limits of /auth', () => {
  it.each(['register', 'login', 'refresh'])('answer 429 to an address that tries %s too often', async (route) => {
    const from = `192.0.2.${route.length}`;
    for (let count = 0; count < 6; count += 1) expect((await post(`/auth/${route}`, from, {})).status).toBe(400);
    const { headers } = await post(`/auth/${route}`, from, {}).expectError(
      429,
      /^Too many requests; try again in \d+ s$/,
    );
    expect(Number(headers['retry-after'])).toBeGreaterThan(50);
    expect(headers['ratelimit']).toMatch(new RegExp(`"${route}";r=0;t=\\d+`));
    expect((await post(`/auth/${route}`, '198.51.100.1', {})).status).toBe(400);
  });

  it('stop the guessing of one password, in any spelling of the account, and lock nobody else out', async () => {
    const from = '192.0.2.100';
    for (const email of ['admin@example.com', `${' '.repeat(400)}ADMIN@example.com`, 'Admin@Example.com\t\n ']) {
      expect((await login(from, email)).status).toBe(401);
    }
    await login(from, `${' '.repeat(500)}admin@example.com`).expectError(429, /^Too many requests/);
    expect((await login(from, 'user@example.com')).status).toBe(401);
    expect((await login('192.0.2.101', 'admin@example.com')).status).toBe(401);
  });
});

describe('the rate limit of clients', () => {
  it('stands before all of the API, and never before health', async () => {
    const { headers } = await app.get('/api/v1/categories');
    expect(headers['ratelimit-policy']).toBe('"client";q=1000000000;w=10');
    expect((await app.get('/nowhere')).headers['ratelimit']).toMatch(/^"client";r=\d+;t=\d+$/);
    for (const path of ['/livez', '/readyz']) expect((await app.get(path)).headers['ratelimit']).toBeUndefined();
  });
});
