import { getRequestContext } from 'slipway';
import { expect, it } from 'vitest';
import { newAccount } from '../support/accounts.ts';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp();

it('the look for a session counts with its user, whose other work waits for the database under the same key', async () => {
  const { sessionService } = app.service.container.cradle as unknown as {
    sessionService: { findAlive(claimed: unknown): Promise<unknown> };
  };
  const user = await newAccount(app, 'user');
  const users: (string | undefined)[] = [];
  const find = sessionService.findAlive.bind(sessionService);
  sessionService.findAlive = (claimed) => {
    users.push(getRequestContext()?.claimedUserId);
    return find(claimed);
  };
  await user.as('put', user.path, { name: 'Eve' }).expectData();
  expect(users).toEqual([user.id]);
});
