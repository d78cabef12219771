import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SqliteFile } from '../../../../src/chassis/database/sqlite/sqlite-file.ts';

const count = { sql: 'SELECT count(*) FROM notes', args: [], argTypes: [] };
/** Writes a log of 30 MB. */
const many = `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 15000)
  INSERT INTO notes SELECT x || hex(zeroblob(500)) FROM c`;

function opened() {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-log-'));
  const path = join(folder, 'x.db');
  const watch = { running: () => undefined, beforeCommit: () => undefined };
  const [file, reader] = [false, true].map((onlyReads) => {
    return new SqliteFile(path, { models: {}, enums: {}, constraints: {} }, watch, { onlyReads });
  }) as [SqliteFile, SqliteFile];
  onTestFinished(() => {
    reader.close();
    file.close();
    rmSync(folder, { recursive: true });
  });
  file.script('CREATE TABLE notes (text TEXT UNIQUE)');
  return { file, reader, log: `${path}-wal` };
}

/** In a process of its own: the memory of SQLite is limited by whichever file was opened with the least of it. */
describe('the log of an SQLite file', () => {
  it('is merged by a reader once it is long, which one who reads all the time would keep from who writes', () => {
    const { file, reader, log } = opened();
    file.execute({ sql: many, args: [], argTypes: [] });
    expect(statSync(log).size).toBeGreaterThan(16_777_216);
    expect(Number(reader.query(count).rows[0]?.[0])).toBe(15_000);
    expect(statSync(log).size).toBe(0);
    expect(Number(file.query(count).rows[0]?.[0])).toBe(15_000);
  });

  it('is left as it is while another writes, and is read on', () => {
    const { file, reader, log } = opened();
    file.execute({ sql: many, args: [], argTypes: [] });
    file.begin();
    expect(Number(reader.query(count).rows[0]?.[0])).toBe(15_000);
    expect(statSync(log).size).toBeGreaterThan(16_777_216);
    file.rollback();
  });
});
