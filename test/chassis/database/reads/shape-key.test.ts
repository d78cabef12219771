import { describe, expect, it } from 'vitest';
import { shapeKey } from '../../../../src/chassis/database/reads/coalesce.ts';

describe('shapeKey', () => {
  it('is the same for queries that differ in compared values and numbers only', () => {
    const query = (price: number, take: number) => ({ where: { price: { gte: price } }, select: { id: true }, take });
    expect(shapeKey(query(1, 10))).toBe(shapeKey(query(2, 20)));
    expect(shapeKey({ select: { id: true } })).not.toBe(shapeKey({ select: { name: true } }));
    expect(shapeKey({ where: { a: { gte: 1 } } })).not.toBe(shapeKey({ where: { a: { lte: 1 } } }));
  });

  it('takes no name that a client chose for the structure around it', () => {
    expect(shapeKey({ select: { 'a1:b': true } })).not.toBe(shapeKey({ select: { a: { b: true } } }));
  });

  it('tells orders and selections apart also where a field or relation is called where or mode', () => {
    const order = (sort: unknown) => shapeKey({ orderBy: [{ where: sort }] });
    expect(order('asc')).not.toBe(order('desc'));
    expect(order({ sort: 'asc', nulls: 'last' })).not.toBe(order({ sort: 'desc', nulls: 'last' }));
    const related = (sort: string) =>
      shapeKey({ select: { where: { select: { id: true }, orderBy: [{ id: sort }] } } });
    expect(related('asc')).not.toBe(related('desc'));
    const compared = (value: string) => shapeKey({ where: { mode: { equals: value } }, take: 1 });
    expect(compared('a')).toBe(compared('b'));
    const scoped = (value: string) => shapeKey({ orderScopes: { where: { where: { tenantId: { equals: value } } } } });
    expect(scoped('a')).toBe(scoped('b'));
  });

  it('is found again for a selection that cannot change, and made anew for one that can', () => {
    const fixed = Object.freeze({ id: true, name: true });
    expect(shapeKey({ select: fixed })).toBe(shapeKey({ select: { id: true, name: true } }));
    expect(shapeKey({ select: fixed })).toBe(shapeKey({ select: fixed }));
    const inner: Record<string, unknown> = { select: { id: true } };
    const open = Object.freeze({ category: inner });
    const before = shapeKey({ select: open });
    inner.select = { id: true, name: true };
    expect(shapeKey({ select: open })).not.toBe(before);
  });
});
