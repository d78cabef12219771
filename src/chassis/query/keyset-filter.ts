import type { OrderTerm, SortDirection } from './parse-order.ts';
import type { Filter } from './query-types.ts';

/**
 * The filter of all records that come after a position in an order. Records without a value come last, as the order
 * itself says. Every key is also bounded from one side, so that an index on the first keys is entered at the position.
 *
 * @param model name of the model that the list is of
 * @param terms the order, whose last term is unique and never null
 * @param position one value for each term
 */
export function keysetFilter(model: string, terms: readonly OrderTerm[], position: readonly unknown[]): Filter {
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
  if (term.field.nullable) return { OR: [beyond, all(at(term, value), rest()), isNull(term)] };
  if (isEnum) return { OR: [beyond, all(at(term, value), rest())] };
  return all(at(term, { [term.direction === 'asc' ? 'gte' : 'lte']: value }), { OR: [beyond, rest()] });
}

// The ORM does not compare booleans by size: only one value can follow, and only the smaller one has a follower.
function afterBoolean(term: OrderTerm, value: boolean, rest: Filter | undefined): Filter {
  const followers: Filter[] = rest ? [all(at(term, value), rest)] : [];
  if (value === (term.direction === 'desc')) followers.push(at(term, !value));
  if (term.field.nullable) followers.push(isNull(term));
  return { OR: followers };
}

function all(first: Filter, second: Filter | undefined): Filter {
  return second ? { AND: [first, second] } : first;
}

function at(term: OrderTerm, condition: unknown): Filter {
  return term.path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), condition) as Filter;
}

// Said so that over a relation it also holds for records whose related record is missing.
function isNull(term: OrderTerm): Filter {
  return term.path.length === 1 ? at(term, null) : { NOT: at(term, { not: null }) };
}
