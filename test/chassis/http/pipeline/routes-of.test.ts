import { Router } from 'express';
import { describe, expect, it } from 'vitest';
import { routersOf, routesOf } from '../../../../src/chassis/http/pipeline/routes-of.ts';

const end = (_req: unknown, res: { end(): void }): void => res.end();

function pathsOf(router: Router, prefix = ''): string[] {
  return routesOf(router, prefix).map(({ method, path }) => `${method} ${path}`);
}

describe('routesOf', () => {
  it('gives one entry for each method and each path', () => {
    const router = Router().get(['/a', '/b'], end);
    router.route('/c').put(end).delete(end);
    expect(pathsOf(router, '/v1')).toEqual(['GET /v1/a', 'GET /v1/b', 'PUT /v1/c', 'DELETE /v1/c']);
  });

  it('finds the routes of routers at any depth, in the order in which Express tries them', () => {
    const inner = Router().get('/', end).get('/:id', end);
    const middle = Router().use('/inner', inner).post('/', end);
    const router = Router().get('/first', end).use(middle).use(['/x', '/y/'], Router().use(inner)).get('/last', end);
    expect(pathsOf(router)).toEqual([
      'GET /first',
      'GET /inner',
      'GET /inner/:id',
      'POST /',
      'GET /x',
      'GET /x/:id',
      'GET /y',
      'GET /y/:id',
      'GET /last',
    ]);
    expect(routersOf(router, '').map(({ path }) => path)).toEqual(['', '/', '/inner', '/x', '/x', '/y', '/y']);
  });

  it('tells what runs before each route: what stands above it and covers its path', () => {
    const [everywhere, ofOrders, late, inside] = [() => 1, () => 2, () => 3, () => 4];
    const orders = Router().use(inside).get('/', end);
    const router = Router().use(everywhere).use('/orders', ofOrders, orders).get('/orders-of-today', end).use(late);
    expect(routesOf(router, '/v1').map(({ before }) => before)).toEqual([[everywhere, ofOrders, inside], [everywhere]]);
  });
});
