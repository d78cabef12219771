import { describe, expect, it } from 'vitest';
import { statementNames } from '../../../../src/chassis/database/client/statement-names.ts';

describe('the names of statements', () => {
  it('are the same for the same statement, and others for another one', () => {
    const name = statementNames();
    const first = name({ sql: 'SELECT 1' });
    expect(first).not.toBe('');
    expect(name({ sql: 'SELECT 2' })).not.toBe(first);
    expect(name({ sql: 'SELECT 1' })).toBe(first);
  });

  it('are given to no long statement, and to half a million characters of short ones, so that connections keep a bounded amount', () => {
    const name = statementNames();
    expect(name({ sql: `SELECT ${'$1,'.repeat(1400)}$1` })).toBe('');
    const ofAll = Array.from({ length: 1000 }, (_, index) => `SELECT ${String(index).padEnd(3000, ' ')}`);
    const named = ofAll.filter((sql) => name({ sql }) !== '');
    expect(named.join('').length).toBeLessThanOrEqual(500_000);
    expect(named.length).toBeGreaterThan(150);
    expect(name({ sql: ofAll[0] as string })).toBe('s0');
  });

  it('are a thousand at most', () => {
    const name = statementNames();
    const named = Array.from({ length: 2000 }, (_, index) => name({ sql: `SELECT ${index}` })).filter(Boolean);
    expect(new Set(named).size).toBe(1000);
  });
});
