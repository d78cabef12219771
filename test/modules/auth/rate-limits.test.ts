import { describe, expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp({
  env: {
    AUTH_REQUESTS_PER_MINUTE: '6',
    AUTH_LOGINS_PER_ACCOUNT: '3',
    AUTH_LOGINS_PER_ACCOUNT_AND_HOUR: '5',
    TRUST_PROXY: 'loopback',
  },
  configure: (config) => ({
    ...config,
    modules: config.modules.map((module) =>
      module.name === 'auth' ? { ...module, routesPrefix: ['/auth', '/v2/auth'] } : module,
    ),
  }),
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
    // What it sends is not even parsed.
    const noJson = app.send((server) =>
      server.post(`/auth/${route}`).set('X-Forwarded-For', from).type('json').send('no JSON'),
    );
    expect((await noJson).status).toBe(429);
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

  it('are no more for who guesses below several prefixes of the module', async () => {
    const guess = { email: 'many-prefixes@example.com', password: 'wrong password' };
    const answers: number[] = [];
    for (const prefix of ['/auth', '/v2/auth', '/AUTH', '/v2/auth']) {
      answers.push((await post(`${prefix}/login`, '192.0.2.110', guess)).status);
    }
    expect(answers).toEqual([401, 401, 401, 429]);
  });
});

describe('the limit of logins to one account from all addresses', () => {
  it('stops who guesses from many addresses, and leaves the owner the addresses of its sessions', async () => {
    const owner = { email: 'user@example.com', password: 'slipway-demo-password' };
    const home = '2001:db8:1:2::1';
    expect((await post('/auth/login', home, owner)).status).toBe(200);
    const guesses = Array.from({ length: 6 }, (_, index) => login(`203.0.113.${index}`, owner.email));
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
    await post('/auth/login', '203.0.113.77', owner).expectError(429, /^Too many requests/);
    // The same network, by another address of it.
    expect((await post('/auth/login', '2001:db8:1:2::ffff', owner)).status).toBe(200);
  });

  it('tells a stranger nothing of the tries of others, or of whether an address is known', async () => {
    const home = '2001:db8:1:3::1';
    await post('/auth/login', home, { email: 'admin@example.com', password: 'slipway-demo-password' }).expectData();
    const quotas = [];
    for (const from of [home, '203.0.113.90']) {
      const { headers } = await login(from, 'admin@example.com');
      quotas.push(headers['ratelimit-policy']);
    }
    expect(quotas).toEqual(Array(2).fill(expect.not.stringContaining('everywhere')));
    expect(quotas).toEqual(Array(2).fill(expect.stringContaining('"login-account"')));
  });

  it('counts an account that is not there like any other', async () => {
    const answers: number[] = [];
    for (let index = 0; index < 6; index += 1) {
      answers.push((await login(`203.0.113.${100 + index}`, 'nobody@example.com')).status);
    }
    expect(answers).toEqual([401, 401, 401, 401, 401, 429]);
  });

  it('stops who guesses the own password with a stolen access token', async () => {
    const { accessToken } = await post('/auth/login', '2001:db8:1:2::2', {
      email: 'user@example.com',
      password: 'slipway-demo-password',
    }).expectData();
    const guess = () =>
      app.send((server) =>
        server.post('/auth/reauthenticate').set('Authorization', `Bearer ${accessToken}`).send({ password: 'a guess' }),
      );
    for (let count = 0; count < 3; count += 1) expect((await guess()).status).toBe(400);
    await guess().expectError(429, /^Too many requests/);
    const change = app.send((server) =>
      server.put('/auth/password').set('Authorization', `Bearer ${accessToken}`).send({}),
    );
    await change.expectError(429, /^Too many requests/);
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
