import type { Express } from 'express';
import {
  startTestService,
  TestClient,
  type TestPrincipal,
  TestService,
  type TestServiceOptions,
} from 'slipway/testing';

/** Who has an account of its own. */
interface Credentials {
  email: string;
  password: string;
}

/** The reference service on a seeded database, which also knows accounts; called over HTTP as nobody unless `as` says otherwise. */
export class TestApp extends TestService {
  readonly #clients = new Map<string, TestClient>();

  get express(): Express {
    return this.service.app;
  }

  /**
   * The same application called with the token of a seeded account, `admin` or `user`, or of the account with these
   * credentials; or by a principal, whom guards let through without credentials.
   */
  override as(account: string | Credentials | TestPrincipal): TestClient {
    if (typeof account === 'object' && !('email' in account)) return super.as(account);
    const credentials =
      typeof account === 'string' ? { email: `${account}@example.com`, password: 'slipway-demo-password' } : account;
    const client =
      this.#clients.get(credentials.email) ?? new TestClient(this.url, { login: () => this.#login(credentials) });
    this.#clients.set(credentials.email, client);
    return client;
  }

  async #login(credentials: Credentials): Promise<string> {
    const { accessToken } = await this.post('/auth/login', credentials).expectData();
    return accessToken;
  }
}

/** A test logs in from one address as often as thousands of clients would. */
const unlimited = {
  AUTH_REQUESTS_PER_MINUTE: '1000000',
  AUTH_LOGINS_PER_ACCOUNT: '1000000',
  AUTH_LOGINS_PER_ACCOUNT_AND_HOUR: '1000000',
};

/**
 * Boots the service on a fresh, seeded database and a free port, and closes it at the end of the test that called it,
 * or of the file when called at its top. A file boots as many as it likes, side by side.
 */
export async function bootTestApp({ env, ...options }: TestServiceOptions = {}): Promise<TestApp> {
  return new TestApp(await startTestService({ ...options, env: { ...unlimited, ...env } }));
}
