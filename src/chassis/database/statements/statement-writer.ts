import type { DatabaseProvider, DatabaseServer } from '../client/database-url.ts';
import type { DataField, DataModel } from '../models/data-model.ts';
import { dialects, type SqlDialect } from './sql-dialect.ts';

/** Steps from the parameters of a read to one of their values. */
export type ValuePath = readonly (string | number)[];

/** An argument of a statement: where its value stands, and the field whose type it takes. */
export interface Binding {
  readonly path: ValuePath;
  readonly field: DataField;
}

/** The database that statements are written for. */
export interface StatementTarget {
  readonly provider: DatabaseProvider;
  readonly dataModel: DataModel;
  /** The schema of the tables; PostgreSQL only. */
  readonly schema: string;
  /** Whether a total may be kept as long as the database says that nothing was written; PostgreSQL only. */
  readonly keepsTotals?: boolean;
  /** What spans name; PostgreSQL only. */
  readonly server?: DatabaseServer | undefined;
}

/** A statement with placeholders. */
export interface FinishedStatement {
  readonly sql: string;
  /** Its arguments, in the order of their places. */
  readonly bindings: readonly Binding[];
  /** The same for many reads of one row at most, whose arguments are lists of the values of each; undefined where there is none. */
  forEach(): string | undefined;
}

/** Writes one statement: gives names to tables, and places to values. */
export class StatementWriter {
  readonly dialect: SqlDialect;
  readonly dataModel: DataModel;
  readonly #schema: string;
  readonly #bindings: Binding[] = [];
  /** What the statement reads, as it names it. */
  readonly tables = new Set<string>();
  #aliases = 0;

  constructor({ provider, dataModel, schema }: StatementTarget) {
    this.dialect = dialects[provider];
    this.dataModel = dataModel;
    this.#schema = schema;
  }

  alias(): string {
    this.#aliases += 1;
    return this.dialect.quote(`t${this.#aliases}`);
  }

  column(alias: string, name: string): string {
    return `${alias}.${this.dialect.quote(name)}`;
  }

  /** A model's table under a name. */
  from(model: string, alias: string): string {
    return `${this.table(this.dataModel.models[model]?.table ?? model)} AS ${alias}`;
  }

  table(name: string): string {
    const table = this.dialect.table(this.#schema, name);
    this.tables.add(table);
    return table;
  }

  /** The equality of columns of two tables. */
  equal(left: string, columns: readonly string[], right: string, others: readonly string[]): string {
    return columns
      .map((name, index) => `${this.column(left, name)} = ${this.column(right, others[index] as string)}`)
      .join(' AND ');
  }

  /** The place of the value at a path, which takes the type of a field. */
  value(path: ValuePath, field: DataField): string {
    this.#bindings.push({ path, field });
    return `\0${this.#bindings.length - 1}\0`;
  }

  /** The place of a value of a type that no field has, such as a number of records. */
  plain(path: ValuePath, type: 'String' | 'BigInt'): string {
    return this.value(path, { type, list: false, column: '' });
  }

  /** The statement, and its arguments in the order of their places. */
  finish(draft: string): FinishedStatement {
    const bindings = [...draft.matchAll(placeMarks)].map(([, index]) => this.#bindings[Number(index)] as Binding);
    const fields = bindings.map(({ field }) => field);
    return {
      sql: named(draft, (place) => this.dialect.placeholder(place)),
      bindings,
      forEach: () => this.dialect.forEach(fields, (names) => named(draft, (place) => names[place - 1] as string)),
    };
  }
}

const placeMarks = /\0(\d+)\0/g;

/** A draft with a name in each of its places, which are counted from one. */
function named(draft: string, nameOf: (place: number) => string): string {
  let place = 0;
  return draft.replace(placeMarks, () => nameOf(++place));
}
