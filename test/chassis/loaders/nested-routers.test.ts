import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { routersOn } from '../../../src/chassis/loaders/mounted-routers.ts';
import { describeApi } from '../../../src/chassis/openapi/describe-api.ts';
import { bootTestApp } from '../../support/boot-test-app.ts';
import { routesOn } from '../../support/routes-on.ts';
import { info } from '../openapi/shop.ts';
import { seriesOf } from '../telemetry/metrics/scrape.ts';

const app = await bootTestApp({
  modulesDirectory: join(import.meta.dirname, '../../fixtures/modules'),
  configure: (config) => ({ ...config, modules: [{ name: 'nested', enabled: true, routesPrefix: '/api/v1' }] }),
});
const items = '/api/v1/shops/:shopId/items';

interface Operation {
  tags: string[];
  operationId: string;
  parameters?: { name: string; in: string }[];
  security?: object[];
  responses: object;
}

const { body } = await app.get('/api-docs.json');
const paths = body.paths as Record<string, Record<string, Operation>>;

describe('a resource router inside another router', () => {
  it('is registered with the prefix of its module and the paths of the routers around it', () => {
    expect(routesOn(app.express).map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /api/v1/shops',
      `GET ${items}`,
      `GET ${items}/paginated`,
      `GET ${items}/:id`,
      'GET /api/v1/towns',
    ]);
  });

  it('is counted by its full template', async () => {
    expect((await app.get('/api/v1/shops/7/items')).status).toBe(200);
    expect((await app.get('/api/v1/shops/7/items/8')).status).toBe(200);
    const series = Object.keys(seriesOf((await app.internal.get('/metrics')).text));
    for (const route of [items, `${items}/:id`]) {
      expect(series).toContain(`http_request_duration_seconds_count{method="GET",route="${route}",status="200"}`);
    }
  });

  it('answers a method that it does not take with 405 and those that it takes', async () => {
    for (const path of ['/api/v1/shops', '/api/v1/shops/7/items', '/api/v1/shops/7/items/8']) {
      const answer = await app.delete(path);
      expect([answer.status, answer.headers['allow']], path).toEqual([405, 'GET, HEAD']);
    }
    expect((await app.delete('/api/v1/shops/7')).status).toBe(404);
  });

  it('is in the API document, with the resource, its parameters and the guards around it', () => {
    expect(Object.keys(paths).sort()).toEqual([
      '/api/v1/shops',
      '/api/v1/shops/{shopId}/items',
      '/api/v1/shops/{shopId}/items/paginated',
      '/api/v1/shops/{shopId}/items/{id}',
      '/api/v1/towns',
    ]);
    expect(paths['/api/v1/shops/{shopId}/items']?.get).toMatchObject({
      operationId: 'listShopsItems',
      tags: ['Stock'],
      security: [{ bearer: [] }],
      responses: { 401: {} },
    });
    expect(paths['/api/v1/shops/{shopId}/items/{id}']?.get?.parameters).toMatchObject([
      { name: 'shopId', in: 'path' },
      { name: 'id', in: 'path', schema: { format: 'uuid' } },
      { name: 'include', in: 'query' },
    ]);
    expect(body.components.schemas.Item).toBeDefined();
    expect(describeApi(routersOn(app.express), info).problems).toEqual([]);
  });

  it('leaves routes beside it without its guards', () => {
    expect(paths['/api/v1/shops']?.get?.security).toBeUndefined();
    expect(paths['/api/v1/towns']?.get?.security).toBeUndefined();
  });
});
