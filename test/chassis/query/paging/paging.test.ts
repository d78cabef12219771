import { setFlagsFromString } from 'node:v8';
import { describe, expect, it } from 'vitest';
import {
  paginationLinks,
  Remembered,
  StoredJson,
  storedPage,
  unreadData,
} from '../../../../src/chassis/query/paging/paging.ts';

const page = (number: number, total: number | null, length = 10) => ({
  data: Array(length).fill(0),
  page: number,
  pageSize: 10,
  total,
});

describe('the Link header', () => {
  it('names first, prev, next and last, and keeps the other parameters', () => {
    expect(paginationLinks('/products/paginated?page=2&where=%7B%7D&pageSize=10', page(2, 35))).toBe(
      [
        '</products/paginated?where=%7B%7D&pageSize=10&page=1>; rel="first"',
        '</products/paginated?where=%7B%7D&pageSize=10&page=1>; rel="prev"',
        '</products/paginated?where=%7B%7D&pageSize=10&page=3>; rel="next"',
        '</products/paginated?where=%7B%7D&pageSize=10&page=4>; rel="last"',
      ].join(', '),
    );
  });

  it('has no prev on the first page and no next on the last', () => {
    expect(paginationLinks('/p', page(1, 5))).toBe('</p?page=1>; rel="first", </p?page=1>; rel="last"');
    expect(paginationLinks('/p', page(1, 0, 0))).toBe('</p?page=1>; rel="first", </p?page=1>; rel="last"');
  });

  it('leads back to the last page from beyond it', () => {
    expect(paginationLinks('/p', page(9, 15, 0))).toBe(
      '</p?page=1>; rel="first", </p?page=2>; rel="prev", </p?page=2>; rel="last"',
    );
  });

  it('knows no last page without a total, and no next after a page that is not full', () => {
    expect(paginationLinks('/p', page(1, null))).toBe('</p?page=1>; rel="first", </p?page=2>; rel="next"');
    expect(paginationLinks('/p', page(1, null, 3))).toBe('</p?page=1>; rel="first"');
  });

  it('goes by cursor in keyset mode', () => {
    const walk = { ...page(1, 35), nextCursor: 'abc' };
    expect(paginationLinks('/p?cursor=&x=1', walk)).toBe(
      '</p?x=1&cursor=>; rel="first", </p?x=1&cursor=abc>; rel="next"',
    );
    expect(paginationLinks('/p?cursor=abc', { ...walk, nextCursor: null })).toBe('</p?cursor=>; rel="first"');
  });

  it('has at most 2,048 characters, leaving out last and first before prev and next', () => {
    const relations = (length: number) => {
      const header = paginationLinks(`/p?where=${'x'.repeat(length)}&page=2`, page(2, 35));
      expect(header.length).toBeLessThanOrEqual(2048);
      return [...header.matchAll(/rel="(\w+)"/g)].map(([, relation]) => relation);
    };
    expect(relations(470)).toEqual(['first', 'prev', 'next', 'last']);
    expect(relations(600)).toEqual(['first', 'prev', 'next']);
    expect(relations(900)).toEqual(['prev', 'next']);
    expect(relations(1900)).toEqual(['next']);
    expect(relations(2020)).toEqual([]);
    expect(paginationLinks(`/p?where=${'%22'.repeat(2700)}`, page(2, 35))).toBe('');
    expect(paginationLinks(`/p?x=${'"'.repeat(1000)}`, page(2, 35))).toBe('');
    expect(paginationLinks('/p', { ...page(1, 35), nextCursor: 'x'.repeat(2048) })).toBe('</p?cursor=>; rel="first"');
  });

  it('cannot be broken out of by what a client sends', () => {
    const links = paginationLinks('/p>; rel="evil?a=<b>&p%61ge=7&c="\r\n\u20ac\ud800', page(1, 5));
    expect(links).toBe(
      '</p%3E;%20rel=%22evil?a=%3Cb%3E&c=%22%0D%0A%E2%82%AC%EF%BF%BD&page=1>; rel="first", ' +
        '</p%3E;%20rel=%22evil?a=%3Cb%3E&c=%22%0D%0A%E2%82%AC%EF%BF%BD&page=1>; rel="last"',
    );
  });
});

describe('a page of stored records', () => {
  const stored = () =>
    Object.assign(new StoredJson(['{"id":1}'], true), { records: [{ id: 1 }], load: async () => undefined });
  const pageOf = () => storedPage(stored(), { page: 1, pageSize: 10, total: 1 });

  it('is its JSON until somebody looks at the records', () => {
    const unread = pageOf();
    expect(unreadData(unread)?.json).toBe('[{"id":1}]');
    expect(unread.data).toEqual([{ id: 1 }]);
    expect(unreadData(unread)).toBeUndefined();
  });

  it('is an ordinary one once it was copied or its records were replaced', () => {
    expect(unreadData({ ...pageOf(), data: [] })).toBeUndefined();
    expect({ ...pageOf() }).toEqual({ data: [{ id: 1 }], page: 1, pageSize: 10, total: 1 });
    const replaced = pageOf();
    replaced.data = [];
    expect([replaced.data, unreadData(replaced)]).toEqual([[], undefined]);
  });

  it('shares its hidden class with all others, which V8 would keep with the page', () => {
    setFlagsFromString('--allow-natives-syntax');
    const haveSameMap = new Function('one', 'other', 'return %HaveSameMap(one, other)');
    expect(haveSameMap(pageOf(), pageOf())).toBe(true);
  });

  it('gives no JSON in place of the data of what stands before it or inherits from it', () => {
    const masked = [{ id: 'masked' }];
    const get = (target: object, key: PropertyKey) => (key === 'data' ? masked : Reflect.get(target, key));
    const inherits = Object.create(pageOf(), { data: { value: masked, enumerable: true } }) as object;
    for (const other of [new Proxy(pageOf(), { get }), inherits]) expect(unreadData(other)).toBeUndefined();
  });
});

describe('what is remembered', () => {
  it('is bounded in number and in length, the least recently kept forgotten first', () => {
    const remembered = new Remembered<number>();
    for (let key = 0; key < 1000; key += 1) remembered.keep(`key ${key}`, key);
    remembered.keep('key 0', 0);
    remembered.keep('one more', 1);
    remembered.keep('x'.repeat(2001), 2);
    remembered.keep(undefined, 3);
    expect([remembered.of('key 0'), remembered.of('key 1'), remembered.of('one more')]).toEqual([0, undefined, 1]);
    expect([remembered.of('x'.repeat(2001)), remembered.of(undefined)]).toEqual([undefined, undefined]);
  });
});
