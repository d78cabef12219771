import { expect, it } from 'vitest';
import { newAccount } from '../support/accounts.ts';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp();

it('the last use of an API key is the latest of all replicas, whichever of them stores it last', async () => {
  const { as } = await newAccount(app);
  const { id } = await as('post', '/auth/api-keys', { name: 'import', scopes: ['users:read'] }).expectData(201);
  const { apiKeyRepository } = app.service.container.cradle;
  const now = Date.now();
  const [early, between, late] = [new Date(now - 60_000), new Date(now - 30_000), new Date(now)];
  for (const [moment, last] of [
    [between, between],
    [early, between],
    [late, late],
    [between, late],
  ] as const) {
    await app.service.run(() => apiKeyRepository.noteUses(new Map([[id, moment]])));
    const [stored] = await as('get', '/auth/api-keys').expectData();
    expect(stored.lastUsedAt).toBe(last.toISOString());
  }
});
