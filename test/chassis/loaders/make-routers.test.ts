import { join } from 'node:path';
import express from 'express';
import { describe, expect, it } from 'vitest';
import { loadRoutes } from '../../../src/chassis/loaders/load-routes.ts';
import { registeredPolicies, routersOn } from '../../../src/chassis/loaders/mounted-routers.ts';
import { describeApi } from '../../../src/chassis/openapi/describe-api.ts';
import { PolicyReference } from '../../../src/chassis/query/policy/policy-reference.ts';
import { createService } from '../../../src/chassis/service.ts';
import { bootTestApp } from '../../support/boot-test-app.ts';
import { routesOn } from '../../support/routes-on.ts';
import { info } from '../openapi/shop.ts';
import { seriesOf } from '../telemetry/metrics/scrape.ts';

const modulesDirectory = join(import.meta.dirname, '../../fixtures/modules-versions');
const routesPrefix = ['/api/v1', '/api/v2'];
const app = await bootTestApp({
  modulesDirectory,
  configure: (config) => ({ ...config, modules: [{ name: 'library', enabled: true, routesPrefix }] }),
});

describe('a module with several prefixes', () => {
  it('serves its routes below each of them, and those of some versions where they belong', async () => {
    const shelves = ['/bookshelves', '/bookshelves/paginated', '/bookshelves/:id'];
    expect(routesOn(app.express).map(({ path }) => path)).toEqual(
      routesPrefix.flatMap((prefix) => ['/loans', ...shelves].map((path) => prefix + path)),
    );
    const first = await app.get('/api/v1/bookshelves').expectData();
    expect(first.length).toBeGreaterThan(0);
    expect(await app.get('/api/v2/bookshelves').expectData()).toEqual(first);
    expect((await app.get('/api/v1/loans')).body).toEqual([]);
    expect((await app.get('/api/v2/loans')).body).toEqual({ loans: [{ reader: 'ann' }] });
    const { headers } = await app.get('/api/v2/bookshelves/paginated', { pageSize: 1 });
    expect(headers['link']).toContain('</api/v2/bookshelves/paginated?pageSize=1&page=2>; rel="next"');
  });

  it('is counted by the templates of each version', async () => {
    const id = '00000000-0000-4000-8000-000000000000';
    for (const prefix of routesPrefix) expect((await app.get(`${prefix}/bookshelves/${id}`)).status).toBe(404);
    const series = Object.keys(seriesOf((await app.internal.get('/metrics')).text));
    for (const prefix of routesPrefix) {
      const route = `${prefix}/bookshelves/:id`;
      expect(series).toContain(`http_request_duration_seconds_count{method="GET",route="${route}",status="404"}`);
    }
  });

  it('is in the API document with each version, and no operation id is there twice', () => {
    const { document, problems } = describeApi(routersOn(app.express), info);
    expect(problems).toEqual([]);
    const paths = document['paths'] as Record<string, { get: { operationId: string; deprecated?: boolean } }>;
    expect(Object.keys(paths).sort()).toEqual(
      routesPrefix.flatMap((prefix) =>
        ['/bookshelves', '/bookshelves/paginated', '/bookshelves/{id}', '/loans'].map((path) => prefix + path),
      ),
    );
    const ids = Object.values(paths).map(({ get }) => get.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(paths['/api/v1/loans']?.get).toMatchObject({ operationId: 'listLoans', deprecated: true });
    expect(paths['/api/v2/loans']?.get.deprecated).toBeUndefined();
    const { schemas } = document['components'] as { schemas: object };
    expect(Object.keys(schemas).filter((name) => name.startsWith('Bookshelf'))).toEqual(['Bookshelf']);
  });

  it('is one resource to other modules, that of the first prefix', () => {
    expect(registeredPolicies(app.express).map(({ path }) => path)).toEqual([
      '/api/v1/bookshelves',
      '/api/v2/bookshelves',
    ]);
    expect(app.service.policies.named(new PolicyReference('library', 'Category'))).toHaveLength(1);
  });

  it.each([
    [
      'astray',
      /Expected a prefix of module astray \(\/api\/v1, \/api\/v2\) in the defineRoutes\(\) of .*astray.routes.ts, found \/api\/v3; correct it/,
    ],
    ['single', /to be defineRoutes\(.*makes a router for each of \/api\/v1, \/api\/v2, found one router; export one/],
  ])('is not ready with the route file of %s', async (name, message) => {
    const env = { NODE_ENV: 'test', LOG_LEVEL: 'silent' };
    const service = createService({ modules: [], server: { port: 0 } }, { env, modulesDirectory });
    await service.run(() => loadRoutes(express(), [{ name, enabled: true, routesPrefix }]));
    const [failure] = service.startUpReport.failures;
    expect(String(failure?.error)).toMatch(message);
  });
});
