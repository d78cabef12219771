import type { Express } from 'express';
import { TestClient, type TestPrincipal, TestService } from 'slipway/testing';

/** Who has an account of its own. */
interface Credentials {
  email: string;
  password: string;
}

/** A service with accounts on a seeded database; called over HTTP as nobody unless `as` says otherwise. */
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
