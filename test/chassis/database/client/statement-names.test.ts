import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StatementNames } from '../../../../src/chassis/database/client/statement-names.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A thousand statements, as of filters in ever other shapes. */
const shapes = (from = 0) => Array.from({ length: 1000 }, (_, index) => ({ sql: `SELECT ${from + index}` }));

describe('the names of statements', () => {
  it('are the same for the same statement, and others for another one', () => {
    const name = new StatementNames().nameOf;
    const first = name({ sql: 'SELECT 1' });
    expect(first).not.toBe('');
    expect(name({ sql: 'SELECT 2' })).not.toBe(first);
    expect(name({ sql: 'SELECT 1' })).toBe(first);
  });

  it('are given to no long statement, and to half a million characters of short ones, so that connections keep a bounded amount', () => {
    const name = new StatementNames().nameOf;
    expect(name({ sql: `SELECT ${'$1,'.repeat(1400)}$1` })).toBe('');
    const ofAll = Array.from({ length: 1000 }, (_, index) => `SELECT ${String(index).padEnd(3000, ' ')}`);
    const named = ofAll.filter((sql) => name({ sql }) !== '');
    expect(named.join('').length).toBeLessThanOrEqual(500_000);
    expect(named.length).toBeGreaterThan(150);
    expect(name({ sql: ofAll[0] as string })).toBe('s0');
  });

  it('are a thousand at most', () => {
    const name = new StatementNames().nameOf;
    const named = Array.from({ length: 2000 }, (_, index) => name({ sql: `SELECT ${index}` })).filter(Boolean);
    expect(new Set(named).size).toBe(1000);
  });

  it('come to one that is asked for after a thousand others, in the place of one that nobody asked for again', () => {
    const names = new StatementNames();
    const [often, ...others] = shapes();
    for (const query of [often, ...others, often]) names.nameOf(query as { sql: string });
    vi.advanceTimersByTime(1000);
    const late = names.nameOf({ sql: 'UPDATE' });
    expect(late).not.toBe('');
    expect(names.nameOf({ sql: 'UPDATE' })).toBe(late);
    expect(names.nameOf(often as { sql: string })).toBe('s0');
    // And not one for each that is new.
    expect(names.nameOf({ sql: 'DELETE' })).toBe('');
  });

  it('are too many for a connection once a thousand were given since it was opened', () => {
    const names = new StatementNames();
    for (const query of shapes()) names.nameOf(query);
    const connection = {};
    names.opened(connection);
    const replace = (query: { sql: string }) => {
      vi.advanceTimersByTime(100);
      names.nameOf(query);
    };
    for (const query of shapes(1000)) replace(query);
    expect(names.areTooManyFor(connection)).toBe(false);
    replace({ sql: 'UPDATE' });
    expect(names.areTooManyFor(connection)).toBe(true);
  });
});
