import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';
import { aProduct } from '../support/samples.ts';

const app = await bootTestApp();

describe('spec.md: Route layout of a module', () => {
  it('GET /<resources> lists records and accepts the find query parameters', async () => {
    const data = await app
      .get('/api/v1/products', {
        where: { price: { gte: 100 } },
        orderBy: { price: 'asc' },
        include: { category: true },
      })
      .expectData();
    expect(data.length).toBeGreaterThan(100);
    expect(data[0].category.id).toBe(data[0].categoryId);
  });

  it('GET /<resources>/paginated gives one page and accepts the search query parameters', async () => {
    const { body } = await app.get('/api/v1/products/paginated', { page: 2, pageSize: 5, orderBy: { name: 'asc' } });
    expect(body).toMatchObject({ success: true, page: 2, pageSize: 5, total: await app.count('product') });
    expect(body.data).toHaveLength(5);
  });

  it('GET /<resources>/:id gets one record by identifier', async () => {
    const [first] = await app.get('/api/v1/categories').expectData();
    expect(await app.get(`/api/v1/categories/${first.id}`).expectData()).toEqual(first);
    await app.get(`/api/v1/categories/${randomUUID()}`).expectError(404, /not found/i);
  });

  it('POST, PUT and DELETE create, update and delete a record', async () => {
    const admin = app.as('admin');
    const [category] = await app.get('/api/v1/categories').expectData();
    const created = await admin.post('/api/v1/products', aProduct({ categoryId: category.id })).expectData(201);
    const updated = await admin.put(`/api/v1/products/${created.id}`, { price: 1234 }).expectData();
    expect(updated).toMatchObject({ id: created.id, sku: created.sku, price: 1234 });
    expect((await admin.delete(`/api/v1/products/${created.id}`)).status).toBe(204);
    await app.get(`/api/v1/products/${created.id}`).expectError(404, /not found/i);
  });
});

describe('spec.md: Other fixed endpoints', () => {
  it('GET /uploads/<file_name> serves files from LOCAL_UPLOAD_DIR as static content', async () => {
    writeFileSync(join(app.uploads, 'hello.txt'), 'hello');
    const response = await app.get('/uploads/hello.txt');
    expect(response.text).toBe('hello');
    expect(response.headers['x-content-type-options']).toBe('nosniff');
    await app.get('/uploads/absent.txt').expectError(404, 'No such uploaded file');
  });

  it('GET /api-docs gives the API page of an OpenAPI 3.0.0 description', async () => {
    expect((await app.get('/api-docs')).text).toContain('swagger-ui');
    expect((await app.get('/api-docs.json')).body.openapi).toBe('3.0.0');
  });

  it('request bodies are parsed as JSON or as URL-encoded data', async () => {
    const login = { email: 'admin@example.com', password: 'slipway-demo-password' };
    await app.post('/auth/login', login).expectData();
    await app.send((server) => server.post('/auth/login').type('form').send(login)).expectData();
  });
});
