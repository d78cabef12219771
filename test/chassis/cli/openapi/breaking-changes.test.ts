import { describe, expect, it } from 'vitest';
import { breakingChanges } from '../../../../src/chassis/cli/openapi/breaking-changes.ts';

/** A document with one resource, whose answers are lists of the record with its relations, as services describe them. */
function documentOf(change: (document: ReturnType<typeof original>) => void = () => undefined) {
  const document = original();
  change(document);
  return document;
}

function original() {
  const content = (schema: object) => ({ content: { 'application/json': { schema } } });
  return {
    paths: {
      '/products': {
        get: {
          parameters: [
            { in: 'query', name: 'where', required: false, ...content({ $ref: '#/components/schemas/ProductFilter' }) },
            { in: 'query', name: 'pageSize', schema: { type: 'integer', maximum: 100 } },
          ] as object[],
          responses: {
            200: content({ type: 'array', items: { allOf: [{ $ref: '#/components/schemas/Product' }] } }),
          } as Record<string, object>,
        },
        post: { requestBody: content({ $ref: '#/components/schemas/CreateProduct' }), responses: { 201: {} } },
      } as Record<string, { parameters?: object[]; security?: object[]; responses: Record<string, object> }>,
    },
    components: {
      schemas: {
        Product: { type: 'object', properties: product(), required: ['name', 'size'] },
        CreateProduct: { type: 'object', properties: product(), required: ['name'] },
        ProductFilter: { type: 'object', properties: filters() },
      },
    },
  };
}

function product(): Record<string, { type: string; enum?: string[]; nullable?: boolean }> {
  return {
    name: { type: 'string' },
    note: { type: 'string', nullable: true },
    size: { type: 'string', enum: ['small', 'large'] },
  };
}

/** A field by its value or by operators, a relation by its fields or by `is`, and filters inside the filter. */
function filters(): Record<string, { anyOf: Record<string, unknown>[] }> {
  const own = { $ref: '#/components/schemas/ProductFilter' };
  const operators = { type: 'object', properties: { equals: { type: 'string' }, contains: { type: 'string' } } };
  return {
    name: { anyOf: [{ type: 'string', maxLength: 500 }, operators] },
    parent: { anyOf: [own, { type: 'object', properties: { is: own } }] },
    AND: { anyOf: [{ type: 'array', items: own }, own] },
  };
}

type Change = (document: ReturnType<typeof original>) => void;

describe('breakingChanges', () => {
  it.each<[string, Change, string[]]>([
    ['an operation that is gone', ({ paths }) => delete paths['/products']['post'], ['POST /products is gone']],
    [
      'an answer that is gone',
      ({ paths }) => delete paths['/products']['get']?.responses['200'],
      ['GET /products does not answer 200 any more'],
    ],
    [
      'a parameter that is gone',
      ({ paths }) => paths['/products']['get']?.parameters?.shift(),
      ['GET /products takes no query parameter where any more'],
    ],
    [
      'a parameter that is needed',
      ({ paths }) => paths['/products']['get']?.parameters?.push({ in: 'query', name: 'shop', required: true }),
      ['GET /products needs the query parameter shop'],
    ],
    [
      'a field of answers that is gone',
      ({ components }) => delete components.schemas.Product.properties['name'],
      ['GET /products 200[].name is gone'],
    ],
    [
      'a field of answers that may be left out',
      ({ components }) => components.schemas.Product.required.pop(),
      ['GET /products 200[].size may be left out'],
    ],
    [
      'a field of answers of another type',
      ({ components }) => Object.assign(components.schemas.Product.properties['name'] ?? {}, { type: 'integer' }),
      ['GET /products 200[].name is integer instead of string'],
    ],
    [
      'a field of answers that may be null',
      ({ components }) => Object.assign(components.schemas.Product.properties['name'] ?? {}, { nullable: true }),
      ['GET /products 200[].name may be null'],
    ],
    [
      'one more value in answers',
      ({ components }) => components.schemas.Product.properties['size']?.enum?.push('huge'),
      ['GET /products 200[].size may be "huge" too'],
    ],
    [
      'a field of bodies that is required',
      ({ components }) => components.schemas.CreateProduct.required.push('size'),
      ['POST /products body.size is required'],
    ],
    [
      'a field of bodies that may not be null',
      ({ components }) => delete components.schemas.CreateProduct.properties['note']?.nullable,
      ['POST /products body.note may not be null'],
    ],
    [
      'a value that bodies may not have any more',
      ({ components }) => components.schemas.CreateProduct.properties['size']?.enum?.pop(),
      ['POST /products body.size may not be "large" any more'],
    ],
    [
      'a field that can be filtered by no more',
      ({ components }) => delete components.schemas.ProductFilter.properties['name'],
      ['GET /products query parameter where.name is gone'],
    ],
    [
      'an operator of a filter that is gone',
      ({ components }) =>
        Object.assign(components.schemas.ProductFilter.properties['name']?.anyOf[1] ?? {}, { properties: {} }),
      [
        'GET /products query parameter where.name.equals is gone',
        'GET /products query parameter where.name.contains is gone',
      ],
    ],
    [
      'a form of a filter that is gone',
      ({ components }) => components.schemas.ProductFilter.properties['name']?.anyOf.shift(),
      ['GET /products query parameter where.name may not be string any more'],
    ],
    [
      'a bound of a parameter that is narrower',
      ({ paths }) => Object.assign(paths['/products']['get']?.parameters?.[1] ?? {}, { schema: { maximum: 50 } }),
      ['GET /products query parameter pageSize has maximum 50 instead of 100'],
    ],
    [
      'a bound, a pattern or a format of bodies that is new',
      ({ components }) =>
        Object.assign(components.schemas.CreateProduct.properties['name'] ?? {}, { maxLength: 20, format: 'email' }),
      ['POST /products body.name has maxLength 20', 'POST /products body.name has format email'],
    ],
    [
      'a value that bodies may have only',
      ({ components }) => Object.assign(components.schemas.CreateProduct.properties['name'] ?? {}, { enum: ['one'] }),
      ['POST /products body.name may only be "one"'],
    ],
    [
      'credentials that are needed',
      ({ paths }) => Object.assign(paths['/products']['get'] ?? {}, { security: [{ bearer: [] }] }),
      ['GET /products needs credentials'],
    ],
  ])('finds %s', (_, change, expected) => {
    const found = breakingChanges(documentOf(), documentOf(change));
    expect(found.map(({ where, what }) => `${where} ${what}`)).toEqual(expected);
  });

  it.each<[string, Change]>([
    ['nothing', () => undefined],
    ['an operation', ({ paths }) => Object.assign(paths, { '/orders': { get: { responses: {} } } })],
    [
      'a field of answers',
      ({ components }) => Object.assign(components.schemas.Product.properties, { price: { type: 'integer' } }),
    ],
    [
      'an optional field of bodies',
      ({ components }) => Object.assign(components.schemas.CreateProduct.properties, { price: { type: 'integer' } }),
    ],
    [
      'one more value in bodies',
      ({ components }) => components.schemas.CreateProduct.properties['size']?.enum?.push('huge'),
    ],
    [
      'a longer name and a larger page',
      ({ components, paths }) => {
        Object.assign(components.schemas.ProductFilter.properties['name']?.anyOf[0] ?? {}, { maxLength: 900 });
        Object.assign(paths['/products']['get']?.parameters?.[1] ?? {}, { schema: { type: 'integer', maximum: 200 } });
      },
    ],
    [
      'credentials that say who calls, and nobody needs',
      ({ paths }) => Object.assign(paths['/products']['get'] ?? {}, { security: [{ bearer: [] }, {}] }),
    ],
    [
      'a bound of answers',
      ({ components }) => Object.assign(components.schemas.Product.properties['name'] ?? {}, { maxLength: 9 }),
    ],
  ])('lets pass what adds %s', (_, change) => expect(breakingChanges(documentOf(), documentOf(change))).toEqual([]));

  it('ends with schemas that refer to themselves', () => {
    const tree = { type: 'object', properties: { child: { $ref: '#/components/schemas/Product' } }, required: [] };
    const document = documentOf(({ components }) => Object.assign(components.schemas, { Product: tree }));
    expect(breakingChanges(document, document)).toEqual([]);
  });
});
