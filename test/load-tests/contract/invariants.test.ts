import { describe, expect, it } from 'vitest';
import {
  areDistinct,
  areSameRows,
  holds,
  isFull,
  isSorted,
  linksFit,
  type Page,
} from '../../../load-tests/contract/invariants.ts';

const rows = (...ids: number[]) => ids.map((id) => ({ id: String(id), price: id % 2 }));
const page = (data: Page['data'], rest: Partial<Page> = {}): Page => ({
  data,
  page: 1,
  pageSize: 2,
  total: 5,
  ...rest,
});
const byId = { key: 'id', kind: 'number' } as const;

describe('isSorted', () => {
  it('finds a record in a wrong place, and equal values that are not sorted by id', () => {
    const price = { key: 'price', kind: 'number' } as const;
    expect(isSorted(rows(2, 4, 1, 3), price, 'uuid')).toBe(true);
    expect(isSorted(rows(2, 1, 4, 3), price, 'uuid')).toBe(false);
    expect(isSorted(rows(4, 2, 1, 3), price, 'uuid')).toBe(false);
  });

  it('leaves the order of texts to the collation of the database, and finds equal ones apart', () => {
    const name = { key: 'category.name', kind: 'text' } as const;
    const named = (...names: (string | null)[]) =>
      names.map((name, id) => ({ id: String(id), category: name && { name } }));
    expect(isSorted(named('a', 'B', 'c'), name, 'uuid')).toBe(true);
    expect(isSorted(named('b', 'A', 'A', null), name, 'uuid')).toBe(true);
    expect(isSorted(named('a', 'b', 'a'), name, 'uuid')).toBe(false);
  });

  it('compares large numbers and moments by what they mean', () => {
    const of = (kind: 'bigint' | 'date' | 'decimal', ...values: string[]) =>
      isSorted(
        values.map((value, id) => ({ id: String(id), value })),
        { key: 'value', kind },
        'uuid',
      );
    expect(of('bigint', '9', '10', '9007199254740993')).toBe(true);
    expect(of('bigint', '10', '9')).toBe(false);
    expect(of('date', '2024-01-01T00:00:00Z', '2024-01-01T00:00:00.001Z')).toBe(true);
    expect(of('decimal', '9.5', '10.25')).toBe(true);
    expect(of('decimal', '10.25', '9.5')).toBe(false);
  });
});

describe('isFull', () => {
  it('finds a page that is too short or too long for the total', () => {
    const of = (count: number, number: number) =>
      isFull(page(rows(1, 2, 3).slice(0, count)), { page: number, pageSize: 2, total: 5, order: byId });
    expect([of(2, 1), of(1, 1), of(3, 1), of(1, 3), of(2, 3), of(0, 4)]).toEqual([
      true,
      false,
      false,
      true,
      false,
      true,
    ]);
  });

  it('takes what is short for the end of a list to which others write, and nothing before it', () => {
    const of = (count: number, number: number) =>
      isFull(page(rows(1, 2, 3).slice(0, count)), {
        ...{ page: number, pageSize: 2, total: 5, shifting: true, order: byId },
      });
    expect([of(1, 1), of(2, 1), of(0, 3), of(2, 3), of(3, 3)]).toEqual([false, true, true, true, false]);
  });

  it('finds a page by cursor that is short before the end', () => {
    const of = (nextCursor: string | null) => isFull(page(rows(1), { nextCursor }), { pageSize: 2, order: byId });
    expect([of('next'), of(null)]).toEqual([false, true]);
  });
});

describe('pages together', () => {
  it('have no record twice and are what one of double size is', () => {
    expect(areDistinct(rows(1, 2), rows(3))).toBe(true);
    expect(areDistinct(rows(1, 2), rows(2, 3))).toBe(false);
    expect(areSameRows([rows(1, 2), rows(3, 4)], rows(1, 2, 3, 4))).toBe(true);
    expect(areSameRows([rows(1, 2), rows(4, 5)], rows(1, 2, 3, 4))).toBe(false);
  });
});

describe('linksFit', () => {
  const link = (query: string, relation: string) => `</products/paginated?${query}>; rel="${relation}"`;
  const middle = [link('page=1', 'first'), link('page=1', 'prev'), link('page=3', 'next'), link('page=3', 'last')];
  const expected = { page: 2, pageSize: 2, total: 5, order: byId };

  it('holds when the pages around are named, and no other way', () => {
    expect(linksFit(middle.join(', '), page(rows(3, 4)), expected)).toBe(true);
    expect(linksFit(middle.slice(1).join(', '), page(rows(3, 4)), expected)).toBe(false);
    expect(linksFit(middle.join(', '), page(rows(5)), { ...expected, page: 3 })).toBe(false);
  });

  it('does not take page 30 for page 3', () => {
    expect(linksFit(middle.join(', ').replaceAll('page=3', 'page=30'), page(rows(3, 4)), expected)).toBe(false);
  });

  it('holds for a cursor', () => {
    const body = page(rows(1, 2), { nextCursor: 'a+b' });
    expect(linksFit(link('cursor=a+b', 'next'), body, { pageSize: 2, order: byId })).toBe(true);
    expect(linksFit(link('cursor=other', 'next'), body, { pageSize: 2, order: byId })).toBe(false);
    expect(linksFit(link('cursor=a+b', 'next'), page([], { nextCursor: null }), { pageSize: 2, order: byId })).toBe(
      false,
    );
  });
});

describe('holds', () => {
  it('finds a read that lacks a write, whatever else it has', () => {
    expect(holds({ id: '1', tags: ['a'], more: 1 }, { id: '1', tags: ['a'] })).toBe(true);
    expect(holds({ id: '1', tags: [] }, { id: '1', tags: ['a'] })).toBe(false);
    expect(holds(undefined, { id: '1' })).toBe(false);
  });
});
