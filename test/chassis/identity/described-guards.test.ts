import { expect, it } from 'vitest';
import { asBearer, bootNotes } from './boot-notes.ts';

const { app, issuer, as } = await bootNotes();

it('guards make routes of a service without a database show who may call them', async () => {
  const { body } = await app.get('/api-docs.json');
  const of = (path: string, method = 'get') => body.paths[path][method];
  expect(body.components.securitySchemes).toEqual({ bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } });
  expect(of('/me').security).toEqual([{ bearer: [] }]);
  expect(of('/open')).not.toHaveProperty('security');
  expect(Object.keys(of('/notes/{id}', 'put').responses)).toEqual(expect.arrayContaining(['401', '403', '404']));
  expect(of('/notes').description).toBe(
    'All of them.\n\nNeeds the scope `notes:read` and `notes:write`, unless the caller has logged in here.',
  );
});

it('guards hold on the routes of a service without a database', async () => {
  const bob = await issuer.token({ sub: 'bob' });
  const admin = await issuer.token({ roles: ['admin'] });
  const put = (id: number, token: string) =>
    app.send((server) => server.put(`/notes/${id}`).set('Authorization', `Bearer ${token}`));
  expect([(await put(1, bob)).status, (await put(2, bob)).status, (await put(1, admin)).status]).toEqual([
    403, 200, 200,
  ]);
  const statuses = async (token: string) =>
    Promise.all(['/users/bob', '/admin', '/notes', '/session'].map(async (path) => (await as(token, path)).status));
  expect(await statuses(bob)).toEqual([200, 403, 403, 403]);
  expect(await statuses(admin)).toEqual([200, 200, 403, 403]);
  expect(await statuses(await issuer.token({ scope: 'notes:read notes:write' }))).toEqual([403, 403, 200, 403]);
  expect((await app.get('/open')).status).toBe(200);
  const { headers } = await app.get('/me').expectError(401, 'Expected the header Authorization: Bearer <access token>');
  expect(headers['www-authenticate']).toBe('Bearer');
  const basic = app.send((server) => server.get('/me').set('Authorization', 'Basic YTpi'));
  expect((await basic).headers['www-authenticate']).toBe('Bearer error="invalid_request"');
  await asBearer(app, await issuer.token()).expectData();
});

it('guards take the principal that a test names, with the roles and scopes that it has and no others', async () => {
  const ann = app.as({ userId: 'ann', roles: ['admin'], tenantId: 'acme' });
  expect(await ann.get('/me').expectData()).toEqual({ userId: 'ann', roles: ['admin'], scopes: [], tenantId: 'acme' });
  expect((await ann.get('/admin')).status).toBe(200);
  await ann.get('/notes').expectError(403, 'This needs the scope notes:read and notes:write');
  expect((await app.as({ userId: 'bob', via: 'login' }).get('/session')).status).toBe(200);
  const stranger = app.send((server) => server.get('/me').set('x-test-principal', `guess ${encodeURIComponent('{}')}`));
  expect((await stranger).status).toBe(401);
});
