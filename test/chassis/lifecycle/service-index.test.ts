import { expect, it } from 'vitest';
import { bootTestApp } from '../../support/boot-test-app.ts';

it('says at / what the service is, and where its API page and probes are', async () => {
  const app = await bootTestApp();
  const response = await fetch(app.url);
  expect(response.status).toBe(200);
  const body = (await response.json()) as { data: { links: Record<string, string> } };
  expect(body).toEqual({
    success: true,
    data: {
      name: 'Slipway',
      version: '1.0.0',
      description: 'Reference service of the Slipway chassis',
      links: { apiPage: '/api-docs', openApi: '/api-docs.json', liveness: '/livez', readiness: '/readyz' },
    },
  });
  for (const link of Object.values(body.data.links)) expect((await fetch(`${app.url}${link}`)).status).toBe(200);
});

it('answers other methods at / with 405', async () => {
  const app = await bootTestApp();
  const response = await fetch(app.url, { method: 'POST' });
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

it('names the API page behind the prefix of a proxy, and leaves out one that is off', async () => {
  const behind = await bootTestApp({ env: { ENABLE_OPENAPI: 'false', OPENAPI_SERVER_URL: '/shop/' } });
  const { data } = (await (await fetch(behind.url)).json()) as { data: { links: object } };
  expect(data.links).toEqual({ liveness: '/shop/livez', readiness: '/shop/readyz' });
});
