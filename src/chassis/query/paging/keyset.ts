import { isValueOf } from '../parse/parse-search.ts';
import type { OrderTerm, SortDirection } from '../policy/policy-rules.ts';
import type { CursorPage, Filter, Selection } from '../query-types.ts';
import { type CursorCodec, foreignCursor } from './cursor.ts';

/** What a list query is made of, whatever page of it is read. */
export interface QueryParts {
  readonly where: Filter | undefined;
  readonly terms: readonly OrderTerm[];
  readonly select: Selection;
}

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
    const nextCursor = last && rows.length > pageSize ? this.cursorAt(last) : null;
    return { data: this.isAsAsked ? data : data.map((row) => this.#strip(row as Row) as T), nextCursor };
  }

  get isAsAsked(): boolean {
    return this.#extras.length === 0;
  }

  cursorAt(last: object): string {
    const position = this.#terms.map((term) => valueAt(last as Row, term.path));
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

/**
 * The filter of all records that come after a position in an order. Records without a value come last, as the order
 * itself says. Every key is also bounded from one side, so that an index on the first keys is entered at the position.
 *
 * @param model name of the model that the list is of
 * @param terms the order, whose last term is unique and never null
 * @param position one value for each term
 */
function keysetFilter(model: string, terms: readonly OrderTerm[], position: readonly unknown[]): Filter {
  return after(model, terms, position, 0);
}

/** Values of an enum that come after one in the order that the models declare; only the database layer knows it. */
export class EnumBeyond {
  readonly model: string;
  /** The field, after the relations that lead to it. */
  readonly path: readonly string[];
  readonly value: string;
  readonly direction: SortDirection;

  constructor(model: string, path: readonly string[], value: string, direction: SortDirection) {
    this.model = model;
    this.path = path;
    this.value = value;
    this.direction = direction;
  }
}

function after(model: string, terms: readonly OrderTerm[], position: readonly unknown[], index: number): Filter {
  const term = terms[index] as OrderTerm;
  const value = position[index];
  const rest = index + 1 < terms.length ? () => after(model, terms, position, index + 1) : undefined;
  if (value === null) return all(isNull(term), rest?.());
  if (term.field.kind === 'boolean') return afterBoolean(term, value as boolean, rest?.());
  const isEnum = term.field.kind === 'enum';
  const { path, direction } = term;
  const beyond = at(
    term,
    isEnum ? new EnumBeyond(model, path, String(value), direction) : { [direction === 'asc' ? 'gt' : 'lt']: value },
  );
  if (!rest) return beyond;
  // A related record out of the caller's scope counts as missing.
  if (term.field.nullable || path.length > 1) return { OR: [beyond, all(at(term, value), rest()), isNull(term)] };
  if (isEnum) return { OR: [beyond, all(at(term, value), rest())] };
  return all(at(term, { [term.direction === 'asc' ? 'gte' : 'lte']: value }), { OR: [beyond, rest()] });
}

// The ORM does not compare booleans by size: only one value can follow, and only the smaller one has a follower.
function afterBoolean(term: OrderTerm, value: boolean, rest: Filter | undefined): Filter {
  const followers: Filter[] = rest ? [all(at(term, value), rest)] : [];
  if (value === (term.direction === 'desc')) followers.push(at(term, !value));
  if (term.field.nullable || term.path.length > 1) followers.push(isNull(term));
  return { OR: followers };
}

function all(first: Filter, second: Filter | undefined): Filter {
  return second ? { AND: [first, second] } : first;
}

function at(term: OrderTerm, condition: unknown): Filter {
  return term.path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), condition) as Filter;
}

// Said so that over a relation it also holds for records whose related record is missing, or out of the caller's scope.
function isNull(term: OrderTerm): Filter {
  if (term.path.length === 1) return at(term, null);
  if (term.field.nullable) return { NOT: at(term, { not: null }) };
  const missing = term.path.slice(0, -1).reduceRight<Filter>((inner, name) => ({ [name]: { is: inner } }), {});
  return { NOT: missing };
}
