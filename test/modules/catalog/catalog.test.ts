import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { aProduct } from '../../support/samples.ts';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp();
const admin = app.as('admin');
const products = '/api/v1/products';
const categories = '/api/v1/categories';
let categoryId: string;

beforeAll(async () => {
  [{ id: categoryId }] = await app.get(categories).expectData();
});

describe.each([
  ['products', products, () => aProduct({ categoryId })],
  ['categories', categories, () => ({ name: `Category ${randomUUID()}` })],
])('%s', (_name, path, sample) => {
  it('are created by an administrator: 201 with the record and where it is', async () => {
    const { status, body, headers } = await admin.post(path, sample());
    expect(status).toBe(201);
    expect(headers.location).toBe(`${path}/${body.data.id}`);
    expect(await app.get(`${path}/${body.data.id}`).expectData()).toEqual(body.data);
  });

  it('are written by administrators only: 401 for nobody, 403 for a user, and nothing is stored', async () => {
    const model = path === products ? 'product' : 'category';
    const before = await app.count(model);
    await app.post(path, sample()).expectError(401, /.+/);
    await app.as('user').post(path, sample()).expectError(403, /.+/);
    for (const client of [app, app.as('user')]) {
      const [{ id }] = await app.get(path).expectData();
      expect([401, 403]).toContain((await client.put(`${path}/${id}`, {})).status);
      expect([401, 403]).toContain((await client.delete(`${path}/${id}`)).status);
    }
    expect(await app.count(model)).toBe(before);
  });

  it('refuse a body that is no record: 400 with an error per field', async () => {
    const { body } = await admin.post(path, { name: 7, more: true }).expectError(400, 'Validation Failed');
    expect(Object.keys(body.details.errors)).toEqual(expect.arrayContaining(['name', 'more']));
  });

  it('refuse what the server decides: id and times', async () => {
    const { body } = await admin
      .post(path, { ...sample(), id: randomUUID(), createdAt: new Date() })
      .expectError(400, 'Validation Failed');
    expect(Object.keys(body.details.errors).sort()).toEqual(['createdAt', 'id']);
  });

  it('take a body of JSON or a form, and nothing else: 415', async () => {
    await admin.send((server) => server.post(path).type('text/plain').send('name=x')).expectError(415, /.+/);
  });

  it('refuse a body that is too large: 413', async () => {
    await admin.post(path, { ...sample(), name: 'x'.repeat(1_200_000) }).expectError(413, /.+/);
  });

  it('that do not exist cannot be read, changed or removed: 404', async () => {
    const absent = `${path}/${randomUUID()}`;
    await app.get(absent).expectError(404, /.+/);
    await admin.put(absent, { name: `Renamed ${randomUUID()}` }).expectError(404, /.+/);
    await admin.delete(absent).expectError(404, /.+/);
  });

  it('with a unique value that is taken are a conflict: 409', async () => {
    const twin = sample();
    await admin.post(path, twin).expectData(201);
    await admin.post(path, twin).expectError(409, /.+/);
    const { id } = await admin.post(path, sample()).expectData(201);
    const { sku, name } = twin as { sku?: string; name: string };
    await admin.put(`${path}/${id}`, sku === undefined ? { name } : { sku }).expectError(409, /.+/);
  });

  it('refuse a query that their list policy does not know: 400', async () => {
    for (const route of [path, `${path}/paginated`, `${path}/${randomUUID()}`]) {
      await app.get(route, { nonsense: 1 }).expectError(400, 'Invalid request data');
    }
  });

  it('are removed for good: 204, then 404', async () => {
    const { id } = await admin.post(path, sample()).expectData(201);
    expect((await admin.delete(`${path}/${id}`)).status).toBe(204);
    await admin.delete(`${path}/${id}`).expectError(404, /.+/);
  });
});

it('a product of a category that does not exist is a conflict: 409', async () => {
  await admin.post(products, aProduct({ categoryId: randomUUID() })).expectError(409, /.+/);
});

it('a category that still has products is not removed: 409', async () => {
  const { categoryId: used } = await admin.post(products, aProduct({ categoryId })).expectData(201);
  await admin.delete(`${categories}/${used}`).expectError(409, /.+/);
});

it('one record comes with the relations that include names', async () => {
  const { id } = await admin.post(products, aProduct({ categoryId })).expectData(201);
  const product = await app.get(`${products}/${id}`, { include: { category: true } }).expectData();
  expect(product.category.id).toBe(categoryId);
});
