import { describe, expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp({ env: { AUTH_REGISTRATIONS_PER_DAY: '2', TRUST_PROXY: 'loopback' } });

const register = (from: string, body: object) =>
  app.send((server) => server.post('/auth/register').set('X-Forwarded-For', from).send(body));

describe('registrations', () => {
  it('are so many a day and address, and no more, whatever becomes of them', async () => {
    const person = { email: 'one@example.com', password: 'quiet harbour, nine lanterns', name: 'One' };
    expect((await register('192.0.2.1', person)).status).toBe(201);
    expect((await register('192.0.2.1', person)).status).toBe(409);
    const other = { ...person, email: 'other@example.com' };
    const { headers } = await register('192.0.2.1', other).expectError(429, /^Too many requests/);
    expect(Number(headers['retry-after'])).toBeGreaterThan(86_000);
    expect((await register('192.0.2.2', other)).status).toBe(201);
  });
});
