import { describe, expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp({
  env: { AUTH_REQUESTS_PER_MINUTE: '1000', TRUST_PROXY: 'loopback', OVERLOAD_ENABLED: 'false' },
});
const owner = { email: 'user@example.com', password: 'slipway-demo-password' };

async function login(from: string, credentials: typeof owner): Promise<number> {
  const send = app.send((server) => server.post('/auth/login').set('X-Forwarded-For', from).send(credentials));
  return (await send).status;
}

/** Sends more logins than may wait, each to an account of its own, and goes on once the first of them was refused. */
async function crowd(addressOf: (index: number) => string): Promise<Promise<number>[]> {
  const refused = Promise.withResolvers<void>();
  const logins = Array.from({ length: 150 }, async (_, index) => {
    const status = await login(addressOf(index), {
      email: `nobody-${index}@example.com`,
      password: 'a wrong password',
    });
    if (status === 503) refused.resolve();
    return status;
  });
  await refused.promise;
  return logins;
}

describe('more logins than a service has time for', () => {
  it('go first for an address that tries once, whatever the others try', async () => {
    const others = await crowd((index) => `198.51.100.${index % 10}`);
    expect(await login('192.0.2.1', owner)).toBe(200);
    expect(new Set(await Promise.all(others))).toEqual(new Set([401, 503]));
  });

  it('go first for an address that the account logs in from, however many addresses try once', async () => {
    const home = '192.0.2.2';
    expect(await login(home, owner)).toBe(200);
    const others = await crowd((index) => `203.0.113.${index}`);
    expect(await login(home, owner)).toBe(200);
    expect(new Set(await Promise.all(others))).toEqual(new Set([401, 503]));
  });
});
