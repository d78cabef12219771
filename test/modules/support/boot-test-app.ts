import { startTestService, type TestServiceOptions } from 'slipway/testing';
import { TestApp } from '../../support/test-app.ts';

export { TestApp };

/** A test logs in from one address as often as thousands of clients would. */
const unlimited = {
  AUTH_REQUESTS_PER_MINUTE: '1000000',
  AUTH_REGISTRATIONS_PER_DAY: '1000000',
  AUTH_LOGINS_PER_ACCOUNT: '1000000',
  AUTH_LOGINS_PER_ACCOUNT_AND_HOUR: '1000000',
};

/**
 * Boots the reference service on a fresh, seeded database and a free port, and closes it at the end of the test that
 * called it, or of the file when called at its top. A file boots as many as it likes, side by side.
 */
export async function bootTestApp({ env, ...options }: TestServiceOptions = {}): Promise<TestApp> {
  return new TestApp(await startTestService({ ...options, env: { ...unlimited, ...env } }));
}
