import type { FieldRule } from './field-kind.ts';

/** A direction of sorting (spec.md: SearchOptions, orderBy). */
export type SortDirection = 'asc' | 'desc';

/** A key that may sort, with both of its directions in the ORM's form. */
export interface SortRule {
  /** The field, after the relation that leads to it. */
  readonly path: readonly string[];
  readonly field: FieldRule;
  readonly asc: OrderTerm;
  readonly desc: OrderTerm;
}

/** One key of an order, in one direction. */
export interface OrderTerm {
  readonly path: readonly string[];
  readonly field: FieldRule;
  readonly direction: SortDirection;
  /** The ORM's form. Records without a value come last in both directions, on both databases. */
  readonly orm: Record<string, unknown>;
  /** Names the term in what a cursor is bound to. */
  readonly name: string;
}

/** Prepares a key for sorting; `relations` lead from the record to the field. */
export function sortRule(relations: readonly string[], field: FieldRule): SortRule {
  const path = [...relations, field.name];
  return { path, field, asc: term(path, field, 'asc'), desc: term(path, field, 'desc') };
}

function term(path: readonly string[], field: FieldRule, direction: SortDirection): OrderTerm {
  const sort = field.nullable ? Object.freeze({ sort: direction, nulls: 'last' }) : direction;
  const orm = path.reduceRight<unknown>((inner, name) => Object.freeze({ [name]: inner }), sort);
  const name = `${path.join('.')}:${direction}:${field.kind}${field.nullable ? '?' : ''}`;
  return { path, field, direction, orm: orm as OrderTerm['orm'], name };
}
