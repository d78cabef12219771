import type { ColumnType } from '@prisma/driver-adapter-utils';
import type Database from 'libsql';
import { sweepGarbage } from '../../config/private-memory.ts';
import { resultTooLong } from './sqlite-messages.ts';
import { columnTypeOf } from './sqlite-values.ts';

/** A statement that SQLite has compiled. */
export interface Prepared {
  readonly columnNames: string[];
  /** Undefined where only the values tell. */
  readonly columnTypes: (ColumnType | undefined)[];
  /** Runs it to its end and gives its rows; none of a statement that gives none. */
  rows(args: unknown[]): unknown[][];
  /** Runs it to its end and tells how many records it changed. */
  changes(args: unknown[]): number;
}

const mostStatements = 200;
/** What SQLite takes for a compiled statement: measured, for each character and for each of its parameters. */
const bytesOfChar = 15;
const bytesOfParameter = 180;

/** Raised for a result that is longer than any may be. */
class ResultTooLong extends Error {
  override readonly name = resultTooLong;
}

/** Compiles a statement. @param mostChars characters and bytes of one result, at most */
export function prepareStatement(database: Database.Database, sql: string, mostChars: number): Prepared {
  // A connection notices columns that another one has added only once it runs something.
  if (allColumns.test(sql)) database.exec('SELECT 1 FROM sqlite_schema LIMIT 1');
  const statement = database.prepare(sql).safeIntegers(true);
  if (!statement.reader) {
    const changes = (args: unknown[]) => statement.run(args).changes;
    const rows = (args: unknown[]) => {
      statement.run(args);
      return [];
    };
    return { columnNames: [], columnTypes: [], rows, changes };
  }
  statement.raw(true);
  const columns = statement.columns();
  return {
    columnNames: columns.map(({ name }) => name),
    columnTypes: columns.map(({ type }) => columnTypeOf(type ?? '')),
    rows: (args) => boundedRows(statement, args, mostChars),
    changes: (args) => {
      statement.all(args);
      return 0;
    },
  };
}

/** The driver makes as many rows at once as its iterator has places for, whatever they weigh. */
interface DriverRows extends Iterator<unknown[], undefined> {
  nextRows?: unknown[];
  nextRowIndex?: number;
}

/** From here on it matters that a character may take three bytes. */
const longText = 256;
const firstPlaces = 8;
const mostPlaces = 100;
/** Rows that are made at once have about so many characters. */
const charsAtOnce = 500_000;

/** As the driver's `all`, which asks its own iterator too, but stops where the rows become longer than any result may be. */
function boundedRows(statement: Database.Statement, args: unknown[], mostChars: number): unknown[][] {
  const found: unknown[][] = [];
  const rows = statement.iterate(args) as DriverRows;
  const { nextRowIndex: end } = rows;
  const choosesPlaces = end !== undefined && rows.nextRows?.length === end;
  let chars = 0;
  for (let places = firstPlaces; ; places = placesFor(chars / found.length)) {
    if (choosesPlaces) Object.assign(rows, { nextRows: new Array(places), nextRowIndex: end });
    for (let place = 0; place < places; place += 1) {
      const { done, value } = rows.next();
      if (done) return found;
      chars += charsOf(value);
      if (chars > mostChars) return stop(statement, rows);
      found.push(value);
    }
  }
}

function placesFor(charsOfRow: number): number {
  return Math.max(1, Math.min(mostPlaces, Math.floor(charsAtOnce / (charsOfRow + 1))));
}

/** Characters of the texts of a row, of long ones their bytes, and bytes of what is no text. */
export function charsOf(row: readonly unknown[]): number {
  let chars = 0;
  for (const value of row) {
    if (typeof value === 'string') chars += value.length < longText ? value.length : Buffer.byteLength(value);
    else if (value instanceof Uint8Array) chars += value.byteLength;
  }
  return chars;
}

/** Ends a statement that has more rows: it would keep what it has seen of the file, and the file its log. */
function stop(statement: Database.Statement, rows: Iterator<unknown>): never {
  (statement as unknown as { interrupt(): void }).interrupt();
  try {
    while (!rows.next().done);
  } catch {
    // It was interrupted.
  }
  throw new ResultTooLong('The result is longer than any may be');
}

/** A statement that is kept. */
interface Kept {
  readonly prepared: Prepared;
  readonly bytes: number;
}

/**
 * Keeps statements that were compiled, the 200 last used: to compile takes longer than to find a page. One that failed is
 * compiled anew, and one that asks for all columns of a table every time, since another process may add to them. What they
 * take is memory of SQLite, which has a bound, and the driver gives that of a statement back when it is collected as garbage.
 * The collector does not know how much it is: lists in ever other shapes would leave none for the statements of others.
 */
export class StatementCache {
  readonly #prepare: (sql: string) => Prepared;
  readonly #mostBytes: number;
  readonly #kept = new Map<string, Kept>();
  #keptBytes = 0;
  #forgottenBytes = 0;

  /**
   * @param prepare compiles a statement
   * @param mostBytes what those may take that are kept, about, and those that were forgotten before they are collected
   */
  constructor(prepare: (sql: string) => Prepared, mostBytes: number) {
    this.#prepare = prepare;
    this.#mostBytes = mostBytes;
  }

  /** Has `work` use a statement, which nothing else uses meanwhile. */
  use<T>(sql: string, work: (prepared: Prepared) => T): T {
    const { prepared, bytes } = this.#take(sql) ?? { prepared: this.#prepare(sql), bytes: bytesOf(sql) };
    let isKept = false;
    try {
      const result = work(prepared);
      isKept = cacheable.test(sql) && !allColumns.test(sql);
      return result;
    } finally {
      if (isKept) this.#keep(sql, { prepared, bytes });
      else this.#forget(bytes);
    }
  }

  /** Forgets all of them. */
  clear(): void {
    const bytes = this.#keptBytes;
    this.#kept.clear();
    this.#keptBytes = 0;
    this.#forget(bytes);
  }

  #take(sql: string): Kept | undefined {
    const known = this.#kept.get(sql);
    if (known && this.#kept.delete(sql)) this.#keptBytes -= known.bytes;
    return known;
  }

  #keep(sql: string, statement: Kept): void {
    this.#kept.set(sql, statement);
    this.#keptBytes += statement.bytes;
    for (const first of this.#kept.keys()) {
      if (this.#kept.size <= mostStatements && this.#keptBytes <= this.#mostBytes) break;
      this.#forget(this.#take(first)?.bytes ?? 0);
    }
  }

  #forget(bytes: number): void {
    this.#forgottenBytes += bytes;
    if (this.#forgottenBytes <= this.#mostBytes) return;
    this.#forgottenBytes = 0;
    sweepGarbage();
  }
}

/** What SQLite takes for a statement, in bytes, about. */
function bytesOf(sql: string): number {
  return sql.length * bytesOfChar + (sql.split('?').length - 1) * bytesOfParameter;
}

const cacheable = /^\s*(SELECT|WITH|INSERT|UPDATE|DELETE|REPLACE)\b/i;
const allColumns = /(?<!\()\*|\bRETURNING\s*\*/i;
