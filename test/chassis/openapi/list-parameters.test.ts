import { describe, expect, it } from 'vitest';
import { findParameters } from '../../../src/chassis/openapi/list-parameters.ts';
import { QueryComponents } from '../../../src/chassis/openapi/query-components.ts';
import { createCursorCodec } from '../../../src/chassis/query/paging/cursor.ts';
import { itemList, shelfList } from '../../fixtures/modules-openapi/shop/item.schema.ts';
import { describeShop, operation, schemasOf } from './shop.ts';

const shop = await describeShop('item');
const { parameters = [] } = operation(shop, 'get', '/api/v1/items/paginated');
const byName = Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter]));

describe('the parameters of a list', () => {
  it('are the find parameters, and on the paginated list the page, the cursor and the count', () => {
    expect(operation(shop, 'get', '/api/v1/items').parameters?.map(({ name }) => name)).toEqual([
      'include',
      'orderBy',
      'where',
    ]);
    expect(Object.keys(byName)).toEqual(['page', 'pageSize', 'include', 'orderBy', 'where', 'cursor', 'count']);
  });

  it('have examples that the list policy accepts', () => {
    const examples = parameters
      .filter(({ content }) => content !== undefined)
      .map(({ name, content }) => [name, JSON.stringify(content?.['application/json'].example)]);
    expect(examples.length).toBe(3);
    const query = Object.fromEntries(examples);
    expect(() =>
      itemList.parseSearch(query, createCursorCodec('a secret of a test, 32 letters or more')),
    ).not.toThrow();
    for (const [name] of examples) expect(byName[name!]?.description).toContain('as JSON');
  });

  it('name every filter, operator, sort key and relation of the policy in their description', () => {
    const { filters, sorts, includes } = itemList.describe();
    for (const name of Object.keys(filters)) expect(byName.where?.description).toContain(`\`${name}\``);
    expect(byName.where?.description).toContain('`name`: equals, contains, mode');
    for (const name of sorts) expect(byName.orderBy?.description).toContain(`\`${name}\``);
    for (const name of Object.keys(includes)) expect(byName.include?.description).toContain(`\`${name}\``);
  });

  it('have schemas with the names of the policy and no others', () => {
    const { ProductFilter: filter, ProductOrder: order, ProductInclude: include } = schemasOf(shop);
    const names = Object.keys(itemList.describe().filters);
    expect(Object.keys(filter?.properties as object)).toEqual([...names, 'AND', 'OR', 'NOT']);
    expect(Object.keys(order?.properties as object)).toEqual(['name', 'price', 'category.name']);
    expect(Object.keys(include?.properties as object)).toEqual(['category']);
    for (const schema of [filter, order, include]) expect(schema?.additionalProperties).toBe(false);
  });

  it('carry the bounds of the policy', () => {
    const { limits } = itemList.describe();
    expect(byName.pageSize?.schema).toMatchObject({ minimum: 1, maximum: limits.pageSize });
    expect(schemasOf(shop).ProductOrder?.maxProperties).toBe(limits.orderBy);
    expect(schemasOf(shop).ProductFilter?.properties).toMatchObject({
      price: { properties: { in: { maxItems: limits.in } } },
    });
  });

  it('are left out where the policy allows nothing', () => {
    expect(findParameters(shelfList.rules, new QueryComponents()).map(({ name }) => name)).toEqual([
      'orderBy',
      'where',
    ]);
  });
});

describe('the record of a list', () => {
  it('may carry the relations that include names', () => {
    expect(schemasOf(shop).ItemWithIncludes).toMatchObject({
      allOf: [{ $ref: '#/components/schemas/Item' }, { properties: { category: {} } }],
    });
  });
});
