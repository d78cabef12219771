import { isValueOf } from './coerce-value.ts';
import { type CursorCodec, foreignCursor } from './cursor.ts';
import { keysetFilter } from './keyset-filter.ts';
import type { OrderTerm } from './parse-order.ts';
import type { CursorPage, Filter, Selection } from './query-types.ts';
import type { QueryParts } from './read-parts.ts';

type Row = Readonly<Record<string, unknown>>;

/**
 * One page of a traversal by cursor, which costs the same at any depth.
 * `select` is what was asked for and the keys of the order; `finish` takes out again what was not asked for.
 */
export class KeysetPage implements CursorPage {
  /** 1 for the page that an empty cursor gives. */
  readonly page: number;
  readonly select: Selection;
  /** The filter of the records after the cursor; undefined at the start. */
  readonly after: Filter | undefined;
  readonly #codec: CursorCodec;
  readonly #terms: readonly OrderTerm[];
  /** What the cursors of this traversal are bound to: model, order and filter. */
  readonly #binding: string;
  readonly #extras: readonly (readonly string[])[];

  /**
   * @param cursor empty at the start, else the `nextCursor` of a page
   * @throws BadRequestException when the cursor is none of this traversal
   */
  constructor(model: string, { where, terms, select }: QueryParts, codec: CursorCodec, cursor: string) {
    this.#codec = codec;
    this.#terms = terms;
    this.#binding = bindingOf(model, terms, where);
    const [page, position] = cursor === '' ? [1] : positionOf(terms, codec.decode(cursor, this.#binding));
    this.page = page;
    this.after = position && keysetFilter(model, terms, position);
    [this.select, this.#extras] = withOrderKeys(select, terms);
  }

  finish<T extends object>(rows: readonly T[], pageSize: number): { data: T[]; nextCursor: string | null } {
    const data = rows.slice(0, pageSize);
    const last = data.at(-1);
    const nextCursor = last && rows.length > pageSize ? this.#cursorAt(last as Row) : null;
    return { data: this.#extras.length === 0 ? data : data.map((row) => this.#strip(row as Row) as T), nextCursor };
  }

  #cursorAt(row: Row): string {
    const position = this.#terms.map((term) => valueAt(row, term.path));
    return this.#codec.encode([this.page + 1, ...position], this.#binding);
  }

  #strip(row: Row): Row {
    return this.#extras.reduce(without, row);
  }
}

/** Checks what a cursor holds, the ordinal of a page and a value for each key of the order: also a signed one may be wrong. */
function positionOf(terms: readonly OrderTerm[], [page, ...position]: unknown[]): [page: number, position: unknown[]] {
  const isPage = Number.isSafeInteger(page) && (page as number) > 1;
  const fits = ({ field, path }: OrderTerm, index: number) => {
    const value = position[index];
    // A related record may be missing, and its field with it.
    return value === null ? field.nullable || path.length > 1 : isValueOf(field, value);
  };
  if (!isPage || position.length !== terms.length || !terms.every(fits)) throw foreignCursor();
  return [page as number, position];
}

function bindingOf(model: string, terms: readonly OrderTerm[], where: Filter | undefined): string {
  return `${model}\0${terms.map((term) => term.name).join()}\0${JSON.stringify(where ?? {}, writeBigInt)}`;
}

function writeBigInt(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value;
}

function valueAt(row: Row, path: readonly string[]): unknown {
  let value: unknown = row;
  for (const name of path) value = (value as Row | null)?.[name] ?? null;
  return value;
}

function without(row: Row, [name, ...rest]: readonly string[]): Row {
  const { [name as string]: value, ...others } = row;
  if (rest.length === 0) return others;
  return value ? { ...row, [name as string]: without(value as Row, rest) } : row;
}

/** The selection with every key of the order in it, and the paths that were added. */
function withOrderKeys(select: Selection, terms: readonly OrderTerm[]): [Selection, (readonly string[])[]] {
  const extras: string[][] = [];
  let result = select;
  for (const { path } of terms) {
    const [name, nested] = path as [string, string | undefined];
    const present = result[name];
    if (nested === undefined || !present) {
      if (present) continue;
      extras.push([name]);
      result = { ...result, [name]: nested === undefined ? true : { select: { [nested]: true } } };
    } else {
      const related = present as { select: Selection };
      if (related.select[nested]) continue;
      if (!extras.some((extra) => extra.length === 1 && extra[0] === name)) extras.push([name, nested]);
      result = { ...result, [name]: { ...related, select: { ...related.select, [nested]: true } } };
    }
  }
  return [result, extras];
}
