import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';

const secret = 'a secret of the tests, 32 letters or more';
const app = await bootTestApp({
  modulesDirectory: join(import.meta.dirname, '../fixtures/modules'),
  env: { NODE_ENV: 'production', ACCESS_SECRET: secret, CURSOR_SECRET: secret },
  configure: (config) => ({ ...config, modules: [{ name: 'failures', enabled: true }] }),
});

it('spec.md, Error response body, rule 1: production hides message and details of a server error', async () => {
  const { body } = await app.get('/server-error').expectError(500, 'Internal Server Error');
  expect(body).not.toHaveProperty('details');
});

it('spec.md, Error response body, rule 1: production keeps message and details of a client error', async () => {
  await app.get('/bad-request').expectError(400, 'no', { why: 'because' });
});

it('tells a client in production too that its request came after its deadline', async () => {
  const late = app.send((server) => server.get('/bad-request').set('X-Request-Deadline', '2000-01-01T00:00:00Z'));
  await late.expectError(400, /^The request came after its X-Request-Deadline/);
});

it('GET /api-docs gives the API page in production too, which makes it when it is first asked for', async () => {
  const first = await Promise.all([app.get('/api-docs'), app.get('/api-docs.json')]);
  expect(first.map(({ status }) => status)).toEqual([200, 200]);
  expect((await app.get('/api-docs.json')).body).toEqual(first[1].body);
  expect(first[1].body.openapi).toBe('3.0.0');
});
