import { join } from 'node:path';
import express, { type Express } from 'express';
import request from 'supertest';
import { afterAll, describe, expect, it } from 'vitest';
import type { ServerConfig } from '../../../src/chassis/config/app-config.ts';
import { connectOrm } from '../../../src/chassis/loaders/connect-orm.ts';
import { loadDI } from '../../../src/chassis/loaders/load-di.ts';
import { loadExpressApp } from '../../../src/chassis/loaders/load-express-app.ts';
import { loadOpenApi } from '../../../src/chassis/loaders/load-open-api.ts';
import { loadRoutes } from '../../../src/chassis/loaders/load-routes.ts';
import { createService, type Service, type ServiceOptions } from '../../../src/chassis/service.ts';
import { fixtureModules } from '../../fixtures/service/app.config.ts';
import { anyProvider, emptyDatabase } from '../../support/empty-database.ts';
import { memoryLog } from '../http/bare-app.ts';

const modules = join(import.meta.dirname, '../../fixtures/modules');

const { settings: database, remove } = await emptyDatabase(anyProvider);
afterAll(remove);

const ACCESS_SECRET = 'a secret of this test alone, of 32 or more';

function serviceWith(options: Partial<ServiceOptions> = {}): Service {
  const env = { NODE_ENV: 'test', LOG_LEVEL: 'silent', DATABASE_URL: database.DATABASE_URL, ACCESS_SECRET };
  return createService({ modules: [], server: { port: 0 } }, { env, ...options });
}

const service = serviceWith({ modulesDirectory: fixtureModules });
afterAll(() => service.close());

describe('each loader works alone (spec.md: Loaders)', () => {
  it('connectOrm opens the database', async () => {
    await service.run(() => connectOrm());
    expect(await service.database.client.user.count()).toBe(0);
  });

  it('loadDI registers what a module provides, with the settings that the module has of its own', async () => {
    await service.run(() => loadDI(['access']));
    const { settings, access } = service.run(() => {
      const { settings, access } = service.container.cradle;
      return { settings, access };
    });
    expect(settings.ACCESS_SECRET).toBe(ACCESS_SECRET);
    expect(access.role('admin')).toBeTypeOf('function');
  });

  it('loadExpressApp configures an app that never answers with a page of HTML', async () => {
    const app = express();
    await service.run(() => loadExpressApp(app, { port: 0 }));
    app.get('/fail', () => {
      throw new Error('out of order');
    });
    app.get('/body', (_request, response) => void response.json({ fine: true }));
    expect((await request(app).get('/body')).body).toEqual({ fine: true });
    expect((await request(app).get('/fail')).body).toMatchObject({ success: false, statusCode: 500 });
    expect((await request(app).get('/absent')).body).toMatchObject({ success: false, statusCode: 404 });
  });

  it('loadRoutes mounts routes on any app', async () => {
    const app = express();
    await serviceWith({ modulesDirectory: modules }).run(() => loadRoutes(app, [{ name: 'no-di', enabled: true }]));
    expect((await request(app).get('/free')).body).toEqual({ free: true });
  });

  it('loadOpenApi describes an app without routes', async () => {
    const app = express();
    await service.run(() => loadOpenApi(app));
    expect((await request(app).get('/api-docs.json')).body).toMatchObject({ openapi: '3.0.0', paths: {} });
  });
});

describe('the steps of the HTTP configuration (spec.md: Loaders)', () => {
  async function appWith(flags: Partial<ServerConfig>): Promise<Express> {
    const app = express();
    await service.run(() => loadExpressApp(app, { port: 0, ...flags }));
    app.get('/', (_request, response) => void response.json({}));
    return app;
  }

  it('stand in the order of spec.md: cross-origin, security headers, compression, bodies, uploads', async () => {
    const app = await appWith({});
    const headers = { origin: 'https://a.example', 'access-control-request-method': 'GET' };
    const preflight = await request(app).options('/').set(headers);
    expect(preflight.headers).toHaveProperty('access-control-allow-methods');
    // Every answer carries the headers of all steps; those of the first stand first.
    const names = Object.keys(preflight.headers);
    expect(names.indexOf('access-control-allow-origin')).toBeLessThan(names.indexOf('content-security-policy'));
    const broken = await request(app).post('/uploads/a.png').type('json').send('{');
    expect([broken.status, broken.body.message]).toEqual([400, expect.stringContaining('not valid JSON')]);
    for (const name of ['access-control-allow-origin', 'content-security-policy']) {
      expect(broken.headers).toHaveProperty(name);
    }
    expect(broken.headers['vary']).toContain('Accept-Encoding');
  });

  it.each([
    ['enableCors', 'access-control-allow-origin'],
    ['enableSecurityHeaders', 'content-security-policy'],
    ['enableCompression', 'vary'],
  ] as const)('%s leaves its step out when it is false', async (flag, header) => {
    expect((await request(await appWith({})).get('/')).headers).toHaveProperty(header);
    expect((await request(await appWith({ [flag]: false })).get('/')).headers).not.toHaveProperty(header);
  });

  it.each([
    [true, 1],
    [false, 0],
  ])('enableLogging %s writes %i line for a request', async (enableLogging, count) => {
    const { logger, lines } = memoryLog('info');
    const app = express();
    await serviceWith({ logger }).run(() => loadExpressApp(app, { port: 0, enableLogging }));
    app.get('/', (_request, response) => void response.json({}));
    await request(app).get('/');
    expect(lines).toHaveLength(count);
  });
});
