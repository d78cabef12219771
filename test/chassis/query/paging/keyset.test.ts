import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type AnyListPolicy, ListPolicy, listPolicy } from '../../../../src/chassis/query/policy/list-policy.ts';
import type { SearchQuery } from '../../../../src/chassis/query/query-types.ts';
import { cursors, productList, profile, userList } from '../policies.ts';
import { type Row, readRows } from '../read-rows.ts';
import { reasonOf, refusalOf } from '../refusal-of.ts';

const parse = (query: Record<string, string>, policy: AnyListPolicy = productList) =>
  policy.parseSearch(query, cursors);

/** An identifier of a record; they sort by their letter. */
const idOf = (letter: string) => `${letter.charCodeAt(0).toString(16)}000000-0000-4000-8000-000000000000`;

function walk(rows: Row[], policy: AnyListPolicy, query: Record<string, string>): Row[][] {
  const pages: Row[][] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const search: SearchQuery = parse({ ...query, cursor }, policy);
    expect(search.page).toBe(pages.length + 1);
    const page = search.cursor?.finish(readRows(rows, search), search.pageSize);
    pages.push(page?.data ?? []);
    cursor = page?.nextCursor ?? null;
  }
  return pages;
}

const user = fc.record({
  name: fc.constantFrom('a', 'b', 'c'),
  avatarUrl: fc.constantFrom(null, 'x', 'y'),
  role: fc.constantFrom('user', 'admin'),
  profile: fc.constantFrom(
    null,
    { id: idOf('p'), bio: null, location: null },
    { id: idOf('q'), bio: null, location: 'x' },
    { id: idOf('r'), bio: null, location: 'y' },
  ),
});
const users = fc
  .array(user, { maxLength: 25 })
  .map((rows) => rows.map((row, index) => ({ id: idOf(String.fromCharCode(97 + index)), ...row })));
const direction = fc.constantFrom('asc', 'desc');
const order = fc
  .uniqueArray(fc.tuple(fc.constantFrom('name', 'avatarUrl', 'profile.location'), direction), {
    selector: ([key]) => key,
  })
  .map((keys) => JSON.stringify(Object.fromEntries(keys)));

describe('paging by cursor', () => {
  it('meets every record once and in order, under every allowed order', () => {
    fc.assert(
      fc.property(users, order, fc.integer({ min: 1, max: 6 }), (rows, orderBy, pageSize) => {
        const whole = readRows(rows, parse({ orderBy, pageSize: '100' }, userList)).map(({ id }) => id);
        const pages = walk(rows, userList, { orderBy, pageSize: String(pageSize) });
        expect(pages.flat().map(({ id }) => id)).toEqual(whole);
        expect(pages.slice(0, -1).every((page) => page.length === pageSize)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('bounds the first key from one side, so that an index is entered at the position', () => {
    const start = parse({ orderBy: '{"price":"desc"}', cursor: '', pageSize: '1', where: '{"sku":"x"}' });
    expect(start).toMatchObject({ where: { sku: 'x' }, take: 2, skip: 0, page: 1 });
    const rows = [
      { id: idOf('a'), price: 5 },
      { id: idOf('b'), price: 4 },
    ];
    const cursor = start.cursor?.finish(rows, 1).nextCursor as string;
    const next = parse({ orderBy: '{"price":"desc"}', cursor, pageSize: '1', where: '{"sku":"x"}' });
    const after = { AND: [{ price: { lte: 5 } }, { OR: [{ price: { lt: 5 } }, { id: { lt: idOf('a') } }] }] };
    expect(next).toMatchObject({ where: { AND: [{ sku: 'x' }, after] }, countWhere: { sku: 'x' }, page: 2 });
  });

  it('reads the keys of the order and takes out again what was not asked for', () => {
    const start = parse({ orderBy: '{"category.name":"asc","name":"asc"}', cursor: '', pageSize: '1' });
    expect(start.select).toEqual({ ...productList.select, category: { select: { name: true } } });
    const rows = [{ id: idOf('a'), name: 'n', category: { name: 'c' } }, { id: idOf('b') }];
    expect(start.cursor?.finish(rows, 1).data).toEqual([{ id: idOf('a'), name: 'n' }]);
  });

  it('takes a key out of a related record that was asked for without it', () => {
    const start = parse({
      orderBy: '{"category.name":"asc"}',
      include: '{"category":{"select":{"id":true}}}',
      cursor: '',
    });
    expect(start.select.category).toEqual({ select: { id: true, name: true } });
    expect(start.cursor?.finish([{ id: idOf('a'), category: { id: idOf('c'), name: 'n' } }], 10).data).toEqual([
      { id: idOf('a'), category: { id: idOf('c') } },
    ]);
  });

  it('leaves records as they are where nothing has to be taken out', () => {
    const rows = [{ id: idOf('a'), name: 'n' }];
    expect(parse({ orderBy: '{"name":"asc"}', cursor: '' }).cursor?.finish(rows, 10)).toEqual({
      data: rows,
      nextCursor: null,
    });
    expect(parse({ cursor: '' }).cursor?.finish(rows, 10).data[0]).toBe(rows[0]);
  });

  it('works without the primary key in the record', () => {
    const bios = listPolicy('Profile', { record: profile.pick({ bio: true }) });
    expect(parse({ cursor: '' }, bios).select).toEqual({ bio: true, id: true });
    expect(
      walk(
        [
          { id: idOf('a'), bio: null },
          { id: idOf('b'), bio: 'x' },
        ],
        bios,
        { pageSize: '1' },
      ),
    ).toEqual([[{ bio: null }], [{ bio: 'x' }]]);
  });

  it('ends with a null cursor, also on an empty list', () => {
    expect(parse({ cursor: '' }).cursor?.finish([], 10)).toEqual({ data: [], nextCursor: null });
  });

  it('refuses a cursor of another model, order or filter, and takes it with another include or page size', () => {
    const cursor = parse({ cursor: '', pageSize: '1' }).cursor?.finish([{ id: idOf('a') }, { id: idOf('b') }], 1)
      .nextCursor as string;
    expect(() => parse({ cursor, pageSize: '5', include: '{"category":true}' })).not.toThrow();
    refusalOf(() => parse({ cursor, orderBy: '{"name":"asc"}' }));
    refusalOf(() => parse({ cursor, where: '{"sku":"x"}' }));
    refusalOf(() => parse({ cursor }, userList));
    refusalOf(() => parse({ cursor: 'forged' }));
  });

  it.each<[string, unknown[]]>([
    ['too few values', [2, 'name']],
    ['nothing', []],
    ['too many values', [2, 'name', idOf('a'), 'more']],
    ['a number for a text', [2, 5, idOf('a')]],
    ['null where none can be', [2, null, idOf('a')]],
    ['a NUL character', [2, 'a\0', idOf('a')]],
    ['half a character', [2, '\ud800', idOf('a')]],
    ['a date that is none', [2, new Date(Number.NaN), idOf('a')]],
    ['a big integer for a text', [2, 'name', 7n]],
    ['the first page', [1, 'name', idOf('a')]],
    ['half a page', [1.5, 'name', idOf('a')]],
    ['a page in words', ['2', 'name', idOf('a')]],
  ])('refuses a cursor that is signed and holds %s', (_what, values) => {
    const seen: string[] = [];
    const spy = { ...cursors, encode: (_: unknown, binding: string) => String(seen.push(binding)) };
    const orderBy = '{"name":"asc"}';
    productList
      .parseSearch({ orderBy, cursor: '', pageSize: '1' }, spy)
      .cursor?.finish([{ id: idOf('a') }, { id: idOf('b') }], 1);
    const [binding = ''] = seen;
    expect(() => parse({ orderBy, cursor: cursors.encode([2, 'name', idOf('a')], binding) })).not.toThrow();
    expect(reasonOf(() => parse({ orderBy, cursor: cursors.encode(values, binding) }))).toMatch(/^cursor: expected/);
  });

  it('refuses a page beside a cursor', () => {
    expect(reasonOf(() => parse({ cursor: '', page: '1' }))).toContain('cannot stand beside cursor');
  });

  it('holds for booleans, which the ORM does not compare by size', () => {
    const record = z.object({ id: z.string(), on: z.boolean(), maybe: z.boolean().nullable() });
    const flags: AnyListPolicy = new ListPolicy('Flag', { record, sort: ['on', 'maybe'] });
    const values = [true, false].flatMap((on) => [null, true, false, true].map((maybe) => ({ on, maybe })));
    const rows = values.map((row, index) => ({ id: String(index), ...row }));
    for (const orderBy of [
      '{"on":"asc"}',
      '{"on":"desc","maybe":"asc"}',
      '{"maybe":"desc"}',
      '{"maybe":"asc","on":"desc"}',
    ]) {
      expect(walk(rows, flags, { orderBy, pageSize: '1' }).flat()).toEqual(readRows(rows, parse({ orderBy }, flags)));
    }
  });
});
