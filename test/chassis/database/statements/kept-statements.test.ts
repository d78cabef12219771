import { describe, expect, it } from 'vitest';
import { KeptStatements } from '../../../../src/chassis/database/statements/json-reader.ts';

const statementOf = (values: number) => ({ values: new Array(values).fill(1) });

describe('statements that are kept', () => {
  it('are made once for each shape, also where there is none', () => {
    const kept = new KeptStatements();
    let made = 0;
    const make = () => {
      made += 1;
      return undefined;
    };
    expect([kept.of('a', make), kept.of('a', make), made]).toEqual([undefined, undefined, 1]);
  });

  it('have a bounded number of values together, however many shapes of many values a client makes up', () => {
    const kept = new KeptStatements();
    const ordinary = kept.of('ordinary', () => statementOf(5));
    for (let index = 0; index < 600; index += 1) kept.of(`shape ${index}`, () => statementOf(1400 + (index % 50)));
    expect(kept.values).toBeLessThanOrEqual(20_000);
    expect(kept.size).toBeGreaterThan(10);
    expect(kept.of('ordinary', () => statementOf(5))).not.toBe(ordinary);
    expect(kept.of('ordinary', () => undefined)?.values).toHaveLength(5);
  });

  it('are five hundred at most, of which the first kept are the first forgotten', () => {
    const kept = new KeptStatements();
    for (let index = 0; index < 600; index += 1) kept.of(`shape ${index}`, () => statementOf(3));
    expect(kept.size).toBe(500);
    expect(kept.values).toBe(1500);
    expect(kept.of('shape 599', () => undefined)).toBeDefined();
    expect(kept.of('shape 0', () => undefined)).toBeUndefined();
  });

  it('stay while they are asked for, whatever shapes a client makes up', () => {
    const kept = new KeptStatements();
    const ordinary = kept.of('ordinary', () => statementOf(5));
    for (let index = 0; index < 2000; index += 1) {
      kept.of(`shape ${index}`, () => statementOf(5));
      if (index % 100 === 0) expect(kept.of('ordinary', () => statementOf(5))).toBe(ordinary);
    }
    for (let index = 0; index < 1100; index += 1) kept.of(`other ${index}`, () => statementOf(5));
    expect(kept.of('ordinary', () => undefined)).toBeUndefined();
    expect([kept.size, kept.values]).toEqual([500, 499 * 5]);
  });

  it('do not stay where one alone has more values than all may have', () => {
    const kept = new KeptStatements();
    expect(kept.of('huge', () => statementOf(30_000))?.values).toHaveLength(30_000);
    expect([kept.size, kept.values]).toEqual([0, 0]);
  });
});
