import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { notFound } from '../../../../src/chassis/http/answers/not-found.ts';
import { bareApp } from '../bare-app.ts';

const routes = [
  { method: 'GET', path: '/products' },
  { method: 'POST', path: '/products' },
  { method: 'GET', path: '/products/paginated' },
  { method: 'PUT', path: '/products/:id' },
  { method: 'DELETE', path: '/products/:id' },
];
const app = bareApp([notFound(routes)]);

describe('notFound', () => {
  it('answers an unknown path with 404 and does not repeat its query', async () => {
    const { status, body } = await request(app).get('/nothing?token=x');
    expect(status).toBe(404);
    expect(body.message).toBe('No route GET /nothing');
  });

  it.each([
    ['/basket;jsessionid=abc', '/basket;jsessionid=[redacted]'],
    ['/reset/p%61ssword=abc', '/reset/p%61ssword=[redacted]'],
  ])('masks the secrets in the path %s, which the log repeats', async (path, shown) => {
    expect((await request(app).get(path)).body.message).toBe(`No route GET ${shown}`);
  });

  it.each([
    ['put', '/products', 'GET, HEAD, POST'],
    ['get', '/products/7', 'DELETE, PUT'],
    ['post', '/PRODUCTS/paginated/', 'DELETE, GET, HEAD, PUT'],
  ] as const)('answers %s %s with 405 and the methods that the path takes', async (method, path, allow) => {
    const response = await request(app)[method](path);
    expect(response.status).toBe(405);
    expect(response.headers.allow).toBe(allow);
    expect(response.body).toMatchObject({ success: false, statusCode: 405 });
  });

  it('answers a malformed parameter with 400', async () => {
    expect((await request(app).get('/products/%zz')).status).toBe(400);
  });
});
