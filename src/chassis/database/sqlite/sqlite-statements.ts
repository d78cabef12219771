import type { ColumnType } from '@prisma/driver-adapter-utils';
import type Database from 'libsql';
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

/** Compiles a statement. */
export function prepareStatement(database: Database.Database, sql: string): Prepared {
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
    rows: (args) => statement.all(args) as unknown[][],
    changes: (args) => {
      statement.all(args);
      return 0;
    },
  };
}

/**
 * Keeps statements that were compiled, the 200 last used: to compile takes longer than to find a page. One that failed is
 * compiled anew, and one that asks for all columns of a table every time, since another process may add to them.
 */
export class StatementCache {
  readonly #prepare: (sql: string) => Prepared;
  readonly #kept = new Map<string, Prepared>();

  /** @param prepare compiles a statement */
  constructor(prepare: (sql: string) => Prepared) {
    this.#prepare = prepare;
  }

  /** Has `work` use a statement, which nothing else uses meanwhile. */
  use<T>(sql: string, work: (prepared: Prepared) => T): T {
    const prepared = this.#kept.get(sql) ?? this.#prepare(sql);
    this.#kept.delete(sql);
    const result = work(prepared);
    if (cacheable.test(sql) && !allColumns.test(sql)) this.#kept.set(sql, prepared);
    if (this.#kept.size > mostStatements) this.#kept.delete(this.#kept.keys().next().value as string);
    return result;
  }

  /** Forgets all of them. */
  clear(): void {
    this.#kept.clear();
  }
}

const cacheable = /^\s*(SELECT|WITH|INSERT|UPDATE|DELETE|REPLACE)\b/i;
const allColumns = /(?<!\()\*|\bRETURNING\s*\*/i;
