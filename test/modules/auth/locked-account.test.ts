import process from 'node:process';
import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp({ env: { DATABASE_POOL_SIZE: '3' } });
const credentials = { email: 'user@example.com', password: 'slipway-demo-password' };

/** Locks an account until the test ends, as a unit of another process that hangs would. */
async function lockAccount(email: string): Promise<void> {
  const client = new Client({ connectionString: app.service.settings.DATABASE_URL });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('BEGIN');
  await client.query('SELECT 1 FROM users WHERE email = $1 FOR UPDATE', [email]);
}

// A unit of SQLite has the file to itself: its wait is that of every write, DATABASE_STATEMENT_TIMEOUT_MS.
it.runIf(process.env.TEST_PROVIDER === 'postgresql')(
  'logins to an account that is locked end with 503 after a second, and leave the connections to others',
  async () => {
    await app.post('/auth/login', credentials).expectData();
    await lockAccount(credentials.email);
    const started = performance.now();
    const logins = Array.from({ length: 3 }, () => app.post('/auth/login', credentials));
    const waits = logins.map(async (login) => {
      const response = await login;
      expect(response.status).toBe(503);
      expect(response.headers['retry-after']).toBeDefined();
    });
    await Promise.all(waits);
    expect(performance.now() - started).toBeLessThan(5000);
    await app.get('/api/v1/products/paginated').expectData();
  },
);
