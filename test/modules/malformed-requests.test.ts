import { describe, expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp({ env: { BODY_LIMIT_BYTES: '1000' } });
const record = '01900000-0000-7000-8000-000000000000';

describe.each([
  ['post', '/auth/register'],
  ['post', '/auth/login'],
  ['post', '/auth/refresh'],
  ['post', '/auth/logout'],
  ['put', '/auth/password'],
  ['post', '/auth/reauthenticate'],
  ['post', '/api/v1/users'],
  ['put', `/api/v1/users/${record}`],
  ['post', '/api/v1/profiles'],
  ['put', `/api/v1/profiles/${record}`],
] as const)('%s %s', (method, path) => {
  const send = (type: string, body: string) =>
    app.as('admin').send((server) => server[method](path).set('Content-Type', type).send(body));

  it('answers 413 to a body that is too large', async () => {
    expect((await send('application/json', JSON.stringify({ name: 'x'.repeat(1000) }))).status).toBe(413);
  });

  it('answers 415 to a character set that is unknown', async () => {
    expect((await send('application/json; charset=klingon', '{}')).status).toBe(415);
  });

  it.each(['{', '[]', '"text"', 'null', '{"unknown":1}', '{"__proto__":{"role":"admin"}}'])(
    'answers 400 to the body %s',
    async (body) => {
      expect((await send('application/json', body)).status).toBe(400);
    },
  );
});

describe.each(['users', 'profiles', 'products', 'categories'])('/%s/:id', (resource) => {
  it.each(['abc', '12', record.slice(1), `${record}0`])(
    'answers 404 to the id %s, as to one that no record has',
    async (id) => {
      for (const path of [`/api/v1/${resource}/${id}`, `/api/v1/${resource}/${record}`]) {
        const answers = [app.as('admin').get(path), app.as('admin').delete(path), app.as('admin').put(path, {})];
        for (const answer of answers) await answer.expectError(404, /^(User|Profile|Product|Category) not found$/);
      }
    },
  );

  it('answers 400 to a filter for an id that is no UUID', async () => {
    const path = `/api/v1/${resource}`;
    const issues = [{ path: 'where.id', message: 'expected a UUID, got "abc"' }];
    await app
      .as('admin')
      .get(path, { where: { id: 'abc' } })
      .expectError(400, 'Invalid request data', { issues });
    expect(
      await app
        .as('admin')
        .get(path, { where: { id: { in: [record.toUpperCase()] } } })
        .expectData(),
    ).toEqual([]);
  });

  it.each(['%E0%A4%A', '%00'])('answers 400 to the id %s', async (id) => {
    const path = `/api/v1/${resource}/${id}`;
    expect((await app.as('user').get(path)).status).toBe(400);
    expect((await app.as('admin').delete(path)).status).toBe(400);
    expect((await app.as('admin').put(path, {})).status).toBe(400);
  });
});
