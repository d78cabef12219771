import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SqliteFile } from '../../../../src/chassis/database/sqlite/sqlite-file.ts';
import { decide, sharedSlots } from '../../../../src/chassis/database/sqlite/sqlite-messages.ts';

const noted = 'SELECT text FROM notes';

function opened() {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-file-'));
  const running = sharedSlots();
  const watch = {
    running: () => undefined,
    beforeCommit() {
      if (!decide(running, 7, 'store')) throw new Error('given up');
    },
  };
  const path = join(folder, 'x.db');
  const open = (onlyReads: boolean) => {
    return new SqliteFile(path, { models: {}, enums: {}, constraints: {} }, watch, { onlyReads });
  };
  const file = open(false);
  const reader = open(true);
  onTestFinished(() => {
    reader.close();
    file.close();
    rmSync(folder, { recursive: true });
  });
  file.script('CREATE TABLE notes (text TEXT UNIQUE)');
  return { file, reader, giveUp: () => decide(running, 7, 'give up') };
}

describe('an SQLite file', () => {
  it.each([
    `INSERT INTO notes VALUES ('a')`,
    `INSERT INTO notes VALUES ('a') RETURNING text`,
    `WITH a(text) AS (SELECT 'a') INSERT INTO notes SELECT text FROM a`,
  ])('stores nothing of a write that was given up before it was stored: %s', (sql) => {
    const { file, giveUp } = opened();
    expect(giveUp()).toBe(true);
    expect(() => file.query({ sql, args: [], argTypes: [] })).toThrow('given up');
    expect(file.query({ sql: noted, args: [], argTypes: [] }).rows).toEqual([]);
  });

  it('lets nobody give up what is stored already', () => {
    const { file, giveUp } = opened();
    expect(file.execute({ sql: 'INSERT INTO notes VALUES (?)', args: ['a'], argTypes: [] })).toBe(1);
    expect(giveUp()).toBe(false);
    expect(file.query({ sql: noted, args: [], argTypes: [] }).rows).toEqual([['a']]);
  });

  it('stores nothing of a transaction whose commit was given up, and goes on', () => {
    const { file, giveUp } = opened();
    file.begin();
    file.execute({ sql: 'INSERT INTO notes VALUES (?)', args: ['a'], argTypes: [] });
    giveUp();
    expect(() => file.commit()).toThrow('given up');
    expect(file.query({ sql: noted, args: [], argTypes: [] }).rows).toEqual([]);
  });

  it('runs a statement again after it failed', () => {
    const { file } = opened();
    const insert = { sql: 'INSERT INTO notes VALUES (?)', args: ['a'], argTypes: [] };
    file.execute(insert);
    expect(() => file.execute(insert)).toThrow('UNIQUE');
    expect(file.execute({ ...insert, args: ['b'] })).toBe(1);
  });

  it('sees the columns that a table got meanwhile', () => {
    const { file } = opened();
    const all = { sql: 'SELECT * FROM notes', args: [], argTypes: [] };
    expect(file.query(all).columnNames).toEqual(['text']);
    file.execute({ sql: 'ALTER TABLE notes ADD COLUMN more TEXT', args: [], argTypes: [] });
    expect(file.query(all).columnNames).toEqual(['text', 'more']);
  });

  it('undoes what a transaction left open before the next one begins', () => {
    const { file } = opened();
    const insert = (text: string) => ({ sql: 'INSERT INTO notes VALUES (?)', args: [text], argTypes: [] });
    // As one leaves it whose end fails too.
    file.query({ sql: 'BEGIN IMMEDIATE', args: [], argTypes: [] });
    file.query({ sql: 'SAVEPOINT half', args: [], argTypes: [] });
    expect(file.execute(insert('a'))).toBe(1);
    file.query({ sql: 'BEGIN IMMEDIATE', args: [], argTypes: [] });
    file.begin();
    file.execute(insert('b'));
    file.commit();
    expect(file.query({ sql: noted, args: [], argTypes: [] }).rows).toEqual([['a'], ['b']]);
  });

  it('that is only read refuses to be written', () => {
    const { reader } = opened();
    const insert = { sql: `INSERT INTO notes VALUES ('a')`, args: [], argTypes: [] };
    expect(() => reader.execute(insert)).toThrow('readonly');
  });
});
