import { Validator } from '@seriousme/openapi-schema-validator';
import { Router } from 'express';
import { describe, expect, it } from 'vitest';
import { describeApi } from '../../../src/chassis/openapi/describe-api.ts';
import { describeShop, info, operation, schemasOf, shopFile, shopSource } from './shop.ts';

const shop = await describeShop('item', 'basket');

describe('the document', () => {
  it('is valid OpenAPI of version 3.0.0', async () => {
    expect(await new Validator().validate(structuredClone(shop.document))).toEqual({ valid: true });
    expect(shop.document.openapi).toBe('3.0.0');
  });

  it('is valid when nothing is mounted', async () => {
    expect(await new Validator().validate(describeApi([], info).document)).toEqual({ valid: true });
  });

  it('has a title, a version, a description and one server entry', () => {
    expect(shop.document.info).toEqual({ title: 'Shop', version: '1.2.3', description: 'A shop' });
    expect(shop.document.servers).toEqual([{ url: '/' }]);
  });

  it('names every path with the prefix of its module', () => {
    expect(Object.keys(shop.document.paths as object).sort()).toEqual([
      '/api/v1/baskets',
      '/api/v1/baskets/{id}/items',
      '/api/v1/items',
      '/api/v1/items/paginated',
      '/api/v1/items/{id}',
    ]);
  });

  it('gives every operation an id of its own', () => {
    const items = Object.values(shop.document.paths as Record<string, Record<string, { operationId: string }>>);
    const ids = items.flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('gives operations an id of their own also where one resource is mounted twice', async () => {
    const source = await shopSource('item');
    const { document } = describeApi([source, { ...source, prefix: '/api/v2' }], info);
    const text = JSON.stringify(document);
    expect(text.match(/"operationId":"listItems"/g)).toHaveLength(1);
    expect(text).toContain('"operationId":"getApiV2Items"');
  });

  it('lists the tags in use with what an author wrote about them', () => {
    expect(shop.document.tags).toEqual([{ name: 'Shop', description: 'What the shop sells' }]);
  });

  it('describes no route of a group that is closed', async () => {
    const { describeRouter, resourceRouter } = await import('../../../src/chassis/resource/resource-router.ts');
    const { default: items } = await import(shopFile('item'));
    const { schemas } = describeRouter(items)!;
    const answer = () => undefined;
    const controller = { schemas, list: answer, paginated: answer, get: answer } as never;
    const router = resourceRouter('/items', controller, { read: (_request, _response, next) => next() });
    const { document } = describeApi([{ module: 'shop', file: shopFile('item'), prefix: '', router }], info);
    expect(Object.values(document.paths as object).flatMap((item) => Object.keys(item))).toEqual(['get', 'get', 'get']);
  });
});

describe('what an author writes', () => {
  it('stands in place of what the chassis knows, and leaves the rest', () => {
    const list = operation(shop, 'get', '/api/v1/items');
    expect(list.summary).toBe('All that is for sale');
    expect(list.parameters?.map(({ name }) => name)).toEqual(['include', 'orderBy', 'where']);
  });

  it('reaches all routes of the resource when it stands beside x-resource', () => {
    expect(operation(shop, 'delete', '/api/v1/items/{id}').tags).toEqual(['Shop']);
  });

  it('reaches one route when it stands at its path', () => {
    expect(operation(shop, 'put', '/api/v1/items/{id}').deprecated).toBe(true);
    expect(operation(shop, 'get', '/api/v1/items/{id}').deprecated).toBeUndefined();
  });

  it('adds a failure, which has the error body, and leaves one out by null', () => {
    const { responses } = operation(shop, 'post', '/api/v1/items');
    expect(responses[402]).toMatchObject({
      description: 'The shop has no credit',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorBody' } } },
    });
    expect(responses[404]).toBeUndefined();
  });

  it('has components of its own, and parameters of its own routes, which may refer to them', () => {
    const { components } = shop.document as { components: Record<string, Record<string, object>> };
    expect(components['parameters']).toEqual({
      Region: { name: 'X-Region', in: 'header', schema: { type: 'string' } },
    });
    expect(components['schemas']?.['Currency']).toEqual({ type: 'string', enum: ['EUR', 'USD'] });
    expect(operation(shop, 'get', '/api/v1/baskets').parameters).toEqual([
      { $ref: '#/components/parameters/Region' },
      { name: 'currency', in: 'query', schema: { $ref: '#/components/schemas/Currency' } },
    ]);
    expect(shop.problems).toEqual([]);
  });

  it('names a body and the data of the success by the ids of zod schemas', () => {
    const put = operation(shop, 'post', '/api/v1/baskets/{id}/items');
    expect(put.requestBody?.content['application/json'].schema).toEqual({ $ref: '#/components/schemas/PriceTagInput' });
    expect(put.responses[201]).toEqual({ description: 'It lies in the basket' });
    const list = operation(shop, 'get', '/api/v1/baskets');
    expect(list.responses[200]?.content?.['application/json'].schema).toMatchObject({
      properties: { data: { type: 'array', items: { $ref: '#/components/schemas/PriceTag' } } },
    });
  });
});

describe('what contradicts itself', () => {
  it('is nothing where every route is documented and every documented path is mounted', () => {
    expect(shop.problems).toEqual([]);
  });

  it('is a mounted route that nobody documented, which is in the document all the same', async () => {
    const astray = await describeShop('astray');
    expect(astray.problems).toContainEqual(
      expect.stringMatching(/comment for GET \/api\/v1\/unwritten\/\{id\}.*shop\/astray/),
    );
    expect(operation(astray, 'get', '/api/v1/unwritten/{id}').parameters).toMatchObject([{ name: 'id', in: 'path' }]);
  });

  it('is a documented path or resource that no router mounts, which is not in the document', async () => {
    const { document, problems } = await describeShop('astray');
    expect(problems).toContainEqual(expect.stringMatching(/route for GET \/api\/v1\/nowhere/));
    expect(problems).toContainEqual(expect.stringMatching(/resource Thing at \/api\/v1\/things.*no resource router/));
    expect(Object.keys(document.paths as object)).toEqual(['/api/v1/unwritten/{id}']);
  });

  it('is a description that YAML cut at a comma', async () => {
    const { problems } = await describeShop('astray');
    expect(problems).toContainEqual(expect.stringMatching(/response 200 of GET \/api\/v1\/nowhere, found "there"/));
  });

  it('is a reference to a schema that nobody has', async () => {
    const router = Router();
    router.get('/nowhere', (_request, response) => response.end());
    const { problems } = describeApi([{ module: 'shop', file: shopFile('astray'), prefix: '', router }], info);
    expect(problems).toContainEqual(expect.stringContaining("zod schema with .meta({ id: 'Nothing' })"));
  });
});

describe('failures', () => {
  const operations = Object.values(shop.document.paths as Record<string, Record<string, ReturnType<typeof operation>>>);

  it('have the error body in every route', () => {
    for (const { responses } of operations.flatMap((item) => Object.values(item))) {
      for (const [status, response] of Object.entries(responses).filter(([status]) => status >= '400')) {
        const name = response.$ref?.replace('#/components/responses/', '');
        const { responses: shared } = shop.document.components as { responses: Record<string, typeof response> };
        const schema = (name ? shared[name] : response)?.content?.['application/json'].schema;
        expect(JSON.stringify(schema), status).toContain('ErrorBody');
      }
    }
  });

  it('are the ones that a route can answer', () => {
    const statuses = (method: string, path: string) =>
      Object.keys(operation(shop, method, `/api/v1/items${path}`).responses).filter((status) => status >= '400');
    expect(statuses('get', '')).toEqual(['400', '429', '500', '503']);
    expect(statuses('get', '/{id}')).toEqual(['400', '404', '429', '500', '503']);
    expect(statuses('put', '/{id}')).toEqual(['400', '401', '403', '404', '409', '413', '415', '429', '500', '503']);
    expect(statuses('delete', '/{id}')).toEqual(['400', '401', '403', '404', '409', '429', '500', '503']);
  });

  it('may be a failed validation where there is a body', () => {
    expect(operation(shop, 'post', '/api/v1/items').responses[400]?.$ref).toBe('#/components/responses/InvalidBody');
    expect(schemasOf(shop).ValidationErrorBody).toMatchObject({ allOf: [{}, { required: ['details'] }] });
  });
});

describe('guarded routes', () => {
  it('ask for the security scheme that their guard names, open ones for none', () => {
    expect(operation(shop, 'post', '/api/v1/items').security).toEqual([{ bearer: [] }]);
    expect(operation(shop, 'get', '/api/v1/items').security).toBeUndefined();
  });
});
