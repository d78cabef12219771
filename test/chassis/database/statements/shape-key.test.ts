import { describe, expect, it } from 'vitest';
import { shapeKey } from '../../../../src/chassis/database/statements/json-reader.ts';

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
