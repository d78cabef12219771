import { describe, expect, it } from 'vitest';
import { newAccount, password } from '../support/accounts.ts';
import { bootTestApp } from '../support/boot-test-app.ts';
import { untilLockWait } from '../support/lock-wait.ts';

const app = await bootTestApp();
const users = '/api/v1/users';

type Account = Awaited<ReturnType<typeof newAccount>>;

/** A new key of an account. */
async function newKey(account: Account): Promise<string> {
  const { key } = await account
    .as('post', '/auth/api-keys', { name: 'import', scopes: ['users:read'] })
    .expectData(201);
  return key;
}

const readWith = (key: string) => app.send((server) => server.get(users).set('X-API-Key', key));

it('an API key that was revoked by its id in capitals is no longer read with', async () => {
  const account = await newAccount(app);
  const key = await newKey(account);
  await readWith(key).expectData();
  const [{ id }] = await account.as('get', '/auth/api-keys').expectData();
  expect((await account.as('delete', `/auth/api-keys/${id.toUpperCase()}`)).status).toBe(204);
  await readWith(key).expectError(401, /invalid, has expired or was revoked/);
});

describe('all API keys of an account', () => {
  const next = 'lantern harbour, nine quiet';
  const byPassword = (account: Account, body: object) =>
    account.as('put', '/auth/password', { currentPassword: password, newPassword: next, ...body }).expectData();
  const everywhere = async (account: Account, body?: object) =>
    expect((await account.as('post', '/auth/logout-all', body)).status).toBe(204);
  const byAdmin = (account: Account, body: object) => app.as('admin').put(account.path, body).expectData();

  it.each([
    ['a change of the password', (account: Account) => byPassword(account, {})],
    ['a logout everywhere', (account: Account) => everywhere(account)],
    ['a logout everywhere that says no', (account: Account) => everywhere(account, { revokeApiKeys: false })],
    ['a new password by an administrator', (account: Account) => byAdmin(account, { password: next })],
  ])('outlive %s, because they are credentials of their own', async (_what, end) => {
    const account = await newAccount(app);
    const key = await newKey(account);
    await end(account);
    await account.as('get', '/auth/sessions').expectError(401, /session has ended/);
    await readWith(key).expectData();
  });

  it.each([
    ['a change of the password', (account: Account) => byPassword(account, { revokeApiKeys: true })],
    ['a logout everywhere', (account: Account) => everywhere(account, { revokeApiKeys: true })],
    [
      'a new password by an administrator',
      (account: Account) => byAdmin(account, { password: next, revokeApiKeys: true }),
    ],
    ['an administrator who leaves the password', (account: Account) => byAdmin(account, { revokeApiKeys: true })],
  ])('end at once by %s where that is asked for, and leave their traces', async (_what, end) => {
    const [account, other] = [await newAccount(app), await newAccount(app)];
    const keys = [await newKey(account), await newKey(account)];
    const spared = await newKey(other);
    for (const key of keys) await readWith(key).expectData();
    await end(account);
    for (const key of keys) await readWith(key).expectError(401, /invalid, has expired or was revoked/);
    await readWith(spared).expectData();
    expect(await app.count('apiKey', { userId: account.id })).toBe(0);
    expect(await app.count('auditEvent', { action: 'apiKey.revoked', subjectId: account.id })).toBe(2);
  });

  it('are told of once, where one of them is revoked as all are', async () => {
    const account = await newAccount(app);
    const keys = [await newKey(account), await newKey(account)];
    const [first] = await account.as('get', '/auth/api-keys').expectData();
    const { apiKeyRepository, apiKeyService } = app.service.container.cradle;
    const revoke = async () => {
      await apiKeyService.revoke(first.id, account.id);
      const ending = everywhere(account, { revokeApiKeys: true });
      await untilLockWait(app);
      return { ending };
    };
    const { ending } = await app.service.run(() =>
      apiKeyRepository.unitOfWork(revoke, { isolation: 'read-committed' }),
    );
    await ending;
    for (const key of keys) await readWith(key).expectError(401, /invalid, has expired or was revoked/);
    const told = await app.orm.auditEvent.findMany({ where: { action: 'apiKey.revoked', subjectId: account.id } });
    expect(new Set(told.map(({ details }) => details)).size).toBe(2);
    expect(told).toHaveLength(2);
  });

  it('are ended by no user by the way of administrators, and by no other text than true', async () => {
    const account = await newAccount(app);
    const key = await newKey(account);
    await account.as('put', account.path, { revokeApiKeys: true }).expectError(403, /administrators/);
    await account.as('post', '/auth/logout-all', { revokeApiKeys: 'yes' }).expectError(400, 'Validation Failed');
    await readWith(key).expectData();
  });
});
