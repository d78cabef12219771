import { describe, expect, it } from 'vitest';
import { missingFor, takesCredentials } from '../../../load-tests/contract/missing.ts';
import type { ApiDocument } from '../../../load-tests/contract/openapi.ts';
import { findResources, type Resource, resourceNamed } from '../../../load-tests/contract/resource.ts';
import { uploadsOf } from '../../../load-tests/contract/uploads.ts';
import { bootTestApp } from '../../support/boot-test-app.ts';

const { url } = await bootTestApp();
const document = (await (await fetch(`${url}/api-docs.json`)).json()) as ApiDocument;
const resources = findResources(document);

describe('findResources', () => {
  it('gives every list of the document that has pages', () => {
    const pages = Object.keys(document.paths).filter((path) => path.endsWith('/paginated'));
    expect(resources.map(({ path }) => `${path}/paginated`)).toEqual(pages);
  });

  it('reads routes, page sizes, fields, orders, filters and relations of a list', () => {
    const { routes, ...products } = resourceNamed(resources, 'products');
    expect(products).toMatchObject({
      path: '/api/v1/products',
      pageSize: { default: 10, maximum: 100 },
      fields: { id: 'uuid', sku: 'text', price: 'number', createdAt: 'date' },
      sorts: { price: 'number', createdAt: 'date', 'category.name': 'text' },
      filters: { sku: ['equals', 'in'], price: ['equals', 'gte', 'lte', 'in'] },
      relations: [{ name: 'category', many: false, filters: { name: ['equals', 'contains', 'in'] } }],
    });
    expect(products.create?.required).toContain('categoryId');
    expect(routes).toMatchObject({
      find: { path: '/api/v1/products', guarded: false },
      get: { path: '/api/v1/products/{id}', guarded: false },
      create: { path: '/api/v1/products', guarded: true },
    });
  });

  it('tells a relation to many, and how many records it takes', () => {
    const { relations } = resourceNamed(resources, 'categories');
    expect(relations).toMatchObject([{ name: 'products', many: true, take: 100, filters: {} }]);
  });

  it('reads a search box and an export where the document has them', () => {
    const search = document.paths['/api/v1/products/paginated']?.['get'] ?? {};
    const q = { name: 'q', in: 'query', schema: { type: 'string' } };
    const stream = { responses: { 200: { content: { 'text/csv': {} } } } };
    const paths = {
      ...document.paths,
      '/api/v1/products/paginated': { get: { ...search, parameters: [...(search.parameters ?? []), q] } },
      '/api/v1/products/export.csv': { get: stream },
    };
    const changed = resourceNamed(findResources({ ...document, paths }), 'products');
    expect(changed.searchBox).toBe(true);
    expect(changed.routes.export).toEqual({ path: '/api/v1/products/export.csv', guarded: false });
    expect(missingFor('list-search', changed, [])).toBeUndefined();
  });
});

describe('resourceNamed', () => {
  it('takes a name or a path, and refuses what means none or several', () => {
    expect(resourceNamed(resources, '/api/v1/users').name).toBe('users');
    expect(() => resourceNamed(resources, 'lamps')).toThrow(/by name or path: .*\/api\/v1\/products.*; got "lamps"/);
    const twins = resources.map((resource) => ({ ...resource, name: 'twins' }));
    expect(() => resourceNamed(twins, 'twins')).toThrow('means several lists; give a path');
  });
});

describe('what a scenario needs', () => {
  it('is compared with the document', () => {
    const [products, categories] = ['products', 'categories'].map((name) => resourceNamed(resources, name)) as [
      Resource,
      Resource,
    ];
    expect(missingFor('list-sorted-by-relation', products, [])).toBeUndefined();
    expect(missingFor('list-sorted-by-relation', categories, [])).toBe('order by a related record');
    expect(missingFor('upload', products, [])).toBe('route that takes a file');
    expect(uploadsOf(document)).toContainEqual({ path: '/api/v1/users/{id}/avatar', guarded: true, field: 'avatar' });
  });

  it('takes credentials where its routes do', () => {
    const products = resourceNamed(resources, 'products');
    expect(takesCredentials('list-shallow', products, [])).toBe(false);
    expect(takesCredentials('write-mix', products, [])).toBe(true);
    expect(takesCredentials('list-shallow', resourceNamed(resources, 'users'), [])).toBe(true);
  });
});
