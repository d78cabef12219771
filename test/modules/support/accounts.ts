import { randomUUID } from 'node:crypto';
import type { TestRequest } from 'slipway/testing';
import type { TestApp } from './boot-test-app.ts';

/** The password of each account that a test registers. */
export const password = 'correct horse battery';

/** What a login answers. */
export interface Tokens {
  accessToken: string;
  refreshToken: string;
}

export type Method = 'get' | 'post' | 'put' | 'delete';

/** Registers a user, whose session begins with `logIn` or with the first request of `client`. */
export async function registerAccount(app: TestApp, { email = `${randomUUID()}@test.example`, name = 'A user' } = {}) {
  const { id } = await app.post('/auth/register', { email, password, name }).expectData(201);
  const logIn = (userAgent = 'a test'): Promise<Tokens> =>
    app
      .send((server) => server.post('/auth/login').set('User-Agent', userAgent).send({ email, password }))
      .expectData();
  return { id: id as string, email, path: `/api/v1/users/${id}`, client: app.as({ email, password }), logIn };
}

/** Registers a user of this role and logs it in; `as` sends with its token. */
export async function newAccount(app: TestApp, role: 'admin' | 'user' = 'user') {
  const account = await registerAccount(app);
  if (role === 'admin') await app.orm.user.update({ where: { id: account.id }, data: { role } });
  const tokens = await account.logIn();
  const as = (method: Method, path: string, body?: object) => sendAs(app, tokens, method, path, body);
  return { ...account, tokens, as };
}

/** Sends a request with this access token. */
export function sendAs(
  app: TestApp,
  { accessToken }: Pick<Tokens, 'accessToken'>,
  method: Method,
  path: string,
  body?: object,
): TestRequest {
  return app.send((server) => server[method](path).set('Authorization', `Bearer ${accessToken}`).send(body));
}
