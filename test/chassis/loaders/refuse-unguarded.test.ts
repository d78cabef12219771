import { join } from 'node:path';
import express, { type RequestHandler, Router } from 'express';
import { describe, expect, it } from 'vitest';
import { createService, documented, publicAccess } from '../../../src/chassis/index.ts';
import { loadRoutes } from '../../../src/chassis/loaders/load-routes.ts';
import { refuseUnguarded } from '../../../src/chassis/loaders/refuse-unguarded.ts';

const handler: RequestHandler = (_request, response) => void response.end();
const limit: RequestHandler = (_request, _response, next) => next();
const guard = () => documented((_request, _response, next) => next(), { security: ['bearer'] });
const byAddress = documented((_request, _response, next) => next(), { security: [], statuses: [403] });

const check = (router: Router) => () =>
  refuseUnguarded([{ module: 'shop', file: '/src/modules/shop/shop.routes.ts', prefix: '/api', router }]);

describe('a route of a module without a guard', () => {
  it('stops the start, and the message lists all of them with their file and what to write', async () => {
    const service = createService(
      { modules: [], server: { port: 0 } },
      {
        env: { NODE_ENV: 'test', LOG_LEVEL: 'silent', DATABASE_URL: 'none' },
        modulesDirectory: join(import.meta.dirname, '../../fixtures/modules'),
      },
    );
    const load = service.run(() => loadRoutes(express(), [{ name: 'unguarded', enabled: true, routesPrefix: '/api' }]));
    await expect(load).rejects.toThrow(
      'Expected each route of a module to say who may call it, found 1 that does not:\n' +
        '  GET /api/forgotten in unguarded/open.routes.ts\nPut a guard before the handler',
    );
    const router = Router().get('/a', handler).post('/b', limit, handler);
    router.route('/c').get(guard(), handler).put(handler);
    expect(check(router)).toThrow(
      /found 3 that does not:\n {2}GET \/api\/a in .*\n {2}POST \/api\/b .*\n {2}PUT \/api\/c /,
    );
  });

  it.each<[string, Router]>([
    ['of router.all', Router().all('/a', handler)],
    ['whose guard stands behind its handler', Router().get('/a', handler, guard())],
    ['whose guard is used later', Router().get('/a', handler).use(guard())],
    ['whose guard is used for another path', Router().use('/b', guard()).get('/a', handler)],
    ['of a router inside', Router().use('/a', Router().get('/', handler)).use(guard())],
  ])('is found: one %s', (_which, router) => {
    expect(check(router)).toThrow(/ \/api\/a in shop\/shop\.routes\.ts/);
  });
});

describe('a route of a module that says who may call it', () => {
  it.each<[string, Router]>([
    ['a guard before its handler', Router().get('/a', limit, guard(), handler)],
    ['a handler that asks for credentials itself', Router().get('/a', guard())],
    ['a guard that asks for no credentials', Router().get('/a', byAddress, handler)],
    ['publicAccess', Router().all('/a', publicAccess, handler)],
    ['a guard that its router uses', Router().use(guard()).get('/a', handler)],
    ['a guard that a router around it uses', Router().use('/a', guard(), Router().get('/', handler))],
  ])('is mounted: by %s', (_how, router) => {
    expect(check(router)).not.toThrow();
  });
});
