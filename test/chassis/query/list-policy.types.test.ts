import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { many } from '../../../src/chassis/query/policy/list-definition.ts';
import { type ListPolicy, listPolicy } from '../../../src/chassis/query/policy/list-policy.ts';
import { policyOf } from '../../../src/chassis/query/policy/policy-reference.ts';
import { category, categoryList, product, productList, user } from './policies.ts';

const id = z.uuid();

// Nothing here runs: the compiler is the test, and fails where an expected error is missing.
const typeErrors = () => {
  // @ts-expect-error the model does not exist
  listPolicy('Prodcut', { record: product });
  // @ts-expect-error the record has a key that is no field
  listPolicy('Product', { record: z.object({ id, nmae: z.string() }) });
  // @ts-expect-error the record gives a field another type
  listPolicy('Product', { record: z.object({ id, price: z.string() }) });
  // @ts-expect-error the record forgets that a field can be null
  listPolicy('User', { record: z.object({ id, avatarUrl: z.string() }) });
  // @ts-expect-error the record says null of a field that never is
  listPolicy('User', { record: z.object({ id, name: z.string().nullable() }) });
  // @ts-expect-error the model has no such field
  listPolicy('Product', { record: product, filter: { nmae: ['equals'] } });
  // @ts-expect-error the field is not in the record, so it must not be readable through a filter
  listPolicy('User', { record: user, filter: { passwordHash: ['equals'] } });
  // @ts-expect-error the operator does not exist
  listPolicy('Product', { record: product, filter: { name: ['like'] } });
  // @ts-expect-error a number contains nothing
  listPolicy('Product', { record: product, filter: { price: ['contains'] } });
  // @ts-expect-error a date contains nothing
  listPolicy('Product', { record: product, filter: { createdAt: ['startsWith'] } });
  // @ts-expect-error a closed set of values has no order
  listPolicy('User', { record: user, filter: { role: ['gte'] } });
  // @ts-expect-error the relation does not exist
  listPolicy('Product', { record: product, filter: { categroy: () => categoryList } });
  // @ts-expect-error the relation does not exist
  listPolicy('Product', { record: product, include: { categroy: () => categoryList } });
  // @ts-expect-error a relation to many needs many()
  listPolicy('Category', { record: category, include: { products: () => productList } });
  // @ts-expect-error a relation to one takes no many()
  listPolicy('Product', { record: product, include: { category: many(() => categoryList) } });
  // @ts-expect-error the other module's resource has another model than the relation leads to
  listPolicy('Product', { record: product, include: { category: policyOf('catalog', 'Product') } });
  // @ts-expect-error no model has this name
  policyOf('catalog', 'Prodcut');
  // @ts-expect-error a relation to many needs many(), also by name
  listPolicy('Category', { record: category, filter: { products: policyOf('catalog', 'Product') } });
  // @ts-expect-error a relation to one takes no many(), also by name
  listPolicy('Product', { record: product, filter: { category: many(policyOf('catalog', 'Category')) } });
  // @ts-expect-error the related records have another model
  listPolicy('Category', { record: category, include: { products: many(policyOf('catalog', 'Category')) } });
  // @ts-expect-error the sort key is no field
  listPolicy('Product', { record: product, sort: ['nmae'] });
  // @ts-expect-error the field is not in the record
  listPolicy('User', { record: user, sort: ['email'] });
  // @ts-expect-error the related record has no such field
  listPolicy('Product', { record: product, sort: ['category.nmae'] });
  // @ts-expect-error a relation to many does not sort
  listPolicy('Category', { record: category, sort: ['products.name'] });
  // @ts-expect-error over an optional relation a field that is never null sorts differently on the two databases
  listPolicy('User', { record: user, sort: ['profile.userId'] });
  // @ts-expect-error the limit does not exist
  listPolicy('Product', { record: product, limits: { takes: 1 } });
};

describe('the types of a list policy', () => {
  it('refuse what the model or the record does not have', () => {
    expect(typeErrors).toBeTypeOf('function');
  });

  it('take the name of a policy of the related model', () => {
    const other = policyOf('catalog', 'Category');
    listPolicy('Product', { record: product, filter: { category: other }, include: { category: other } });
    listPolicy('Category', { record: category, include: { products: many(policyOf('catalog', 'Product')) } });
    expectTypeOf(other.model).toEqualTypeOf<'Category'>();
  });

  it('survive policies that refer to each other', () => {
    expectTypeOf(productList).toEqualTypeOf<ListPolicy<'Product', (typeof product)['shape']>>();
    expectTypeOf(categoryList.model).toEqualTypeOf<'Category'>();
    expectTypeOf<z.output<typeof productList.record>['price']>().toEqualTypeOf<number>();
  });
});
