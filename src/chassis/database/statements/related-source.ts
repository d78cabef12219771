import type { RelationLink } from '../models/relation-link.ts';
import type { StatementWriter } from './statement-writer.ts';

/** The records that a relation to many leads to: what they are read from, and whose columns link them to a record. */
interface RelatedSource {
  readonly source: string;
  readonly holder: string;
  readonly columns: readonly string[];
}

/** The records that a relation leads to, its model's table under the name `other`. */
export function relatedSource(writer: StatementWriter, link: RelationLink, other: string): RelatedSource {
  const { between } = link;
  const source = writer.from(link.model, other);
  if (!between) return { source, holder: other, columns: link.there };
  const middle = writer.alias();
  const join = writer.equal(other, link.there, middle, [between.there]);
  return {
    source: `${source} INNER JOIN ${writer.table(between.table)} AS ${middle} ON ${join}`,
    holder: middle,
    columns: [between.here],
  };
}

/** A record whose related ones are looked for. */
interface Searched {
  readonly model: string;
  readonly alias: string;
  /** The comparisons with certain values that each such record meets, for its table under another name. */
  lookups?(alias: string): string[];
}

/**
 * A join of the keys of all records that have related ones among those that are wanted. A database makes one by itself only
 * where such a condition must hold; elsewhere it looks for each record, through the whole table where it expects many matches
 * and there are none.
 *
 * @param related what related records are read from, and which are wanted
 * @returns the join, and a column that is null for a record that has none of them
 */
export function joinOfFound(
  writer: StatementWriter,
  { here }: RelationLink,
  { model, alias, lookups }: Searched,
  related: RelatedSource & { readonly wanted: string },
): { join: string; key: string } {
  const [found, own] = [writer.alias(), writer.alias()];
  const names = here.map((_column, index) => `k${index}`);
  const keys = related.columns.map(
    (column, index) => `${writer.column(related.holder, column)} AS ${writer.dialect.quote(`k${index}`)}`,
  );
  const narrowed = lookups?.(own) ?? [];
  // Of few records, those related to all others need not be found.
  const ofFew = `INNER JOIN ${writer.from(model, own)} ON ${writer.equal(own, here, related.holder, related.columns)}`;
  const from = narrowed.length > 0 ? `${related.source} ${ofFew}` : related.source;
  const query = `SELECT DISTINCT ${keys.join(', ')} FROM ${from} WHERE ${[related.wanted, ...narrowed].join(' AND ')}`;
  return {
    join: `LEFT JOIN (${query}) AS ${found} ON ${writer.equal(found, names, alias, here)}`,
    key: writer.column(found, 'k0'),
  };
}
