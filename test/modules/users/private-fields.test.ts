import type { Query } from 'slipway/testing';
import { describe, expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp();
const admin = app.as('admin');

/** Requests that would tell something of a field of users. */
function questions(field: string): [string, Query][] {
  const users = '/api/v1/users/paginated';
  const profiles = '/api/v1/profiles/paginated';
  return [
    [users, { where: { [field]: 'a' } }],
    [users, { where: { [field]: { contains: 'a' } } }],
    [users, { where: { OR: [{ NOT: { [field]: { gte: 'a' } } }] } }],
    [users, { where: { profile: { user: { [field]: 'a' } } } }],
    [users, { orderBy: { [field]: 'asc' } }],
    [users, { orderBy: { [`profile.user.${field}`]: 'asc' } }],
    [users, { include: { profile: { include: { user: { select: { [field]: true } } } } } }],
    [users, { include: { [field]: true } }],
    [profiles, { where: { user: { [field]: 'a' } } }],
    [profiles, { orderBy: { [`user.${field}`]: 'asc' } }],
    [profiles, { include: { user: { select: { [field]: true } } } }],
    [profiles, { include: { user: { where: { [field]: 'a' } } } }],
  ];
}

/** The answers, with the field's name and the time taken out. */
async function answers(client: typeof admin, field: string) {
  const all = questions(field).map(async ([path, query]) => {
    const { status, body } = await client.get(path, query);
    return { status, text: JSON.stringify({ ...body, timestamp: '' }).replaceAll(field, 'FIELD') };
  });
  return Promise.all(all);
}

describe('a field of users that the caller may not see', () => {
  it.each(['email', 'role', 'updatedAt', 'passwordHash', 'sessions'])(
    'is for other users like a field that does not exist: %s',
    async (field) => {
      const unknown = await answers(app.as('user'), 'nonsense');
      expect(unknown.map(({ status }) => status)).toEqual(unknown.map(() => 400));
      expect(await answers(app.as('user'), field)).toEqual(unknown);
    },
  );

  it('is the password hash also for administrators', async () => {
    expect(await answers(admin, 'passwordHash')).toEqual(await answers(admin, 'nonsense'));
  });
});
