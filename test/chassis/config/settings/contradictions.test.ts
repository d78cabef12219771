import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readEnvironment } from '../../../../src/chassis/config/environment.ts';
import { isPostgresqlOnly } from '../../../../src/chassis/config/layout.ts';
import { settingContradictions } from '../../../../src/chassis/config/settings/contradictions.ts';

describe('a service whose models are for PostgreSQL only', () => {
  it('is one for which no other client was generated', () => {
    const directory = mkdtempSync(join(tmpdir(), 'slipway-generated-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    expect(isPostgresqlOnly(directory)).toBe(false);
    mkdirSync(join(directory, 'postgresql'));
    expect(isPostgresqlOnly(directory)).toBe(true);
    mkdirSync(join(directory, 'sqlite'));
    expect(isPostgresqlOnly(directory)).toBe(false);
  });

  it('refuses a file, the default too, as a problem of the configuration', () => {
    const refusal = /^DATABASE_URL: expected postgresql:.* PostgreSQL only; found file:/;
    for (const variables of [{}, { DATABASE_URL: 'file:./data/x.db' }]) {
      const settings = readEnvironment({}, { NODE_ENV: 'test', ...variables });
      expect(settingContradictions(settings, true)).toEqual([expect.stringMatching(refusal)]);
      expect(settingContradictions(settings, false)).toEqual([]);
    }
  });

  it('takes PostgreSQL and no database at all', () => {
    for (const url of ['postgresql://db/x', 'none']) {
      const settings = readEnvironment({}, { NODE_ENV: 'test', DATABASE_URL: url });
      expect(settingContradictions(settings, true)).toEqual([]);
    }
  });
});

describe('a replica', () => {
  const problemsOf = (variables: Record<string, string>) =>
    settingContradictions(readEnvironment({}, { NODE_ENV: 'test', ...variables }), false);
  const replica = { DATABASE_READ_URL: 'postgresql://replica/x' };

  it('belongs to a database on PostgreSQL, in the same schema', () => {
    expect(problemsOf({ ...replica, DATABASE_URL: 'postgresql://db/x' })).toEqual([]);
    const inSchema = { DATABASE_READ_URL: 'postgresql://replica/x?schema=shop' };
    expect(problemsOf({ ...inSchema, DATABASE_URL: 'postgresql://db/x?schema=shop' })).toEqual([]);
    expect(() => problemsOf({ ...inSchema, DATABASE_URL: 'postgresql://db/x' })).toThrow(
      'DATABASE_READ_URL: expected the ?schema= of DATABASE_URL, which is ""; found "shop"',
    );
  });

  it.each([
    [{}, 'found file:…'],
    [{ DATABASE_URL: 'none' }, 'found none'],
  ])('is refused beside any other: %o', (variables, found) => {
    expect(() => problemsOf({ ...replica, ...variables })).toThrow(
      `DATABASE_READ_URL: expected DATABASE_URL to be postgresql://…, because only PostgreSQL has replicas; ${found}`,
    );
  });

  it('is on PostgreSQL itself', () => {
    const file = { DATABASE_URL: 'postgresql://db/x', DATABASE_READ_URL: 'file:./x.db' };
    expect(() => problemsOf(file)).toThrow('DATABASE_READ_URL: expected postgresql://…, a streaming replica');
  });
});
