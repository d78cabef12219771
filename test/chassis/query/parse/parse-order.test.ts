import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { many } from '../../../../src/chassis/query/policy/list-definition.ts';
import { listPolicy } from '../../../../src/chassis/query/policy/list-policy.ts';
import { categoryList, product, productList, user, userList } from '../policies.ts';
import { reasonOf, refusalOf } from '../refusal-of.ts';

const order = (orderBy: unknown) => productList.parseFind({ orderBy: JSON.stringify(orderBy) }).orderBy;
const refused = (orderBy: unknown) => refusalOf(() => order(orderBy));
const whyRefused = (orderBy: unknown) => reasonOf(() => order(orderBy));

describe('orderBy', () => {
  it('sorts by several keys in their order and ends with the primary key', () => {
    expect(order({ price: 'desc', 'category.name': 'asc', name: 'asc' })).toEqual([
      { price: 'desc' },
      { category: { name: 'asc' } },
      { name: 'asc' },
      { id: 'asc' },
    ]);
    expect(order({})).toEqual([{ id: 'asc' }]);
    expect(productList.parseFind({}).orderBy).toEqual([{ id: 'asc' }]);
  });

  it('names the primary key once', () => {
    expect(categoryList.parseFind({ orderBy: '{"id":"desc"}' }).orderBy).toEqual([{ id: 'desc' }]);
  });

  it('puts records without a value last in both directions', () => {
    const last = (key: string) => userList.parseFind({ orderBy: `{"${key}":"desc"}` }).orderBy[0];
    expect(last('avatarUrl')).toEqual({ avatarUrl: { sort: 'desc', nulls: 'last' } });
    expect(last('profile.location')).toEqual({ profile: { location: { sort: 'desc', nulls: 'last' } } });
  });

  it('takes the last of two equal keys', () => {
    expect(productList.parseFind({ orderBy: '{"name":"asc","name":"desc"}' }).orderBy[0]).toEqual({ name: 'desc' });
  });

  it.each([
    [[]],
    ['name'],
    [null],
    [{ name: 'ASC' }],
    [{ name: 1 }],
    [{ name: { sort: 'asc' } }],
    [{ sku: 'asc' }],
    [{ category: { name: 'asc' } }],
  ])('refuses %j', (orderBy) => {
    refused(orderBy);
  });

  it('bounds the number of keys', () => {
    expect(whyRefused({ a: 'asc', b: 'asc', c: 'asc', d: 'asc', e: 'asc' })).toContain('at most 4 keys, got 5');
  });
});

describe('a definition that cannot work', () => {
  it('says so when it is made, where no other policy is needed', () => {
    const loose = listPolicy as unknown as (model: string, definition: unknown) => unknown;
    expect(() => loose('User', { record: user, sort: ['email'] })).toThrow(
      'The list policy of User cannot work: sort: email is not in the record; expected one of id, name, avatarUrl, role.',
    );
    expect(() => loose('User', { record: user, filter: { name: ['like'] } })).toThrow(
      'a field of kind text takes equals',
    );
    expect(() => loose('User', { record: z.object({ tags: z.array(z.string()) }), sort: ['tags'] })).toThrow(
      'tags has no order',
    );
    expect(() => loose('User', { record: user, limits: { take: 1.5 } })).toThrow('limits.take: expected an integer');
  });

  it('says so at first use, where it needs another policy', () => {
    const unrelated = listPolicy('Product', { record: product, sort: ['category.name'] });
    expect(() => unrelated.describe()).toThrow(
      'category.name needs the relation category, to one record, in filter or include',
    );
    const unreadable = listPolicy('Profile', {
      record: z.object({ id: z.uuid() }),
      include: { user: () => userList },
      sort: ['user.passwordHash'],
    });
    expect(() => unreadable.parseFind({ orderBy: '{}' }) && unreadable.describe()).toThrow(
      'no sortable field of the record of User',
    );
    const nowhere = listPolicy('Category', {
      record: z.object({ id: z.uuid() }),
      include: { products: many(() => undefined) },
    });
    expect(() => nowhere.parseFind({ include: '{"products":true}' })).toThrow('products leads to undefined');
  });
});
