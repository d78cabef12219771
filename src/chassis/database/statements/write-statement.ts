import type { Filter, Order, Selection } from '../../query/query-types.ts';
import type { DataModel } from '../models/data-model.ts';
import { fieldOf, type RelationLink, relationLink } from '../models/relation-link.ts';
import { hasOnePlan, isLookup } from './kept-plan.ts';
import { relatedSource } from './related-source.ts';
import { countUnlessKnown, type JsonColumn, UnknownShape } from './sql-dialect.ts';
import { type FinishedStatement, type StatementTarget, StatementWriter, type ValuePath } from './statement-writer.ts';
import { writeFilter } from './write-filter.ts';

/** By relation the filter of the records that a caller may see of those that may be missing; without one all. */
export type OrderScopes = Readonly<Record<string, { readonly where?: Filter }>>;

/** What a read asks for, in the ORM's vocabulary. */
export interface ReadParameters {
  readonly where?: Filter;
  readonly select?: Selection;
  readonly orderBy?: Order;
  /** The scopes of the records that the order leads to and that may be missing, by relation. */
  readonly orderScopes?: OrderScopes | undefined;
  readonly take?: number;
  readonly skip?: number;
}

/** What is to be done with the values of a record that JSON does not hold; of a relation, with those of its records. */
export interface RecordKinds {
  [field: string]: NonNullable<JsonColumn['kind']> | RecordKinds;
}

/** A statement for all reads of one shape. */
export interface ReadStatement extends FinishedStatement {
  readonly kinds: RecordKinds;
  /** Whether the texts hold values that JavaScript writes otherwise than the database. */
  readonly rewrite: boolean;
}

/**
 * The statement that gives the JSON of each record, in a row of its own.
 *
 * @param size the number of first records that all pages of this shape are within, if there is one
 * @throws UnknownShape
 */
export function writeRead(
  target: StatementTarget,
  model: string,
  parameters: ReadParameters,
  size?: number,
): ReadStatement {
  const reading = new Reading(target);
  const keepsPlan = parameters.take !== undefined && hasOnePlan(target.dataModel, model, parameters);
  const window = keepsPlan ? size : undefined;
  const { query, kinds } = reading.records(model, parameters, [], { window });
  const { writer, rewrite } = reading;
  return { ...writer.finish(writer.dialect.texts(query)), kinds, rewrite };
}

/**
 * The statement that counts records. Where totals are kept it gives the state of the database too, and null in place of the total
 * where that is the `state` of the parameters.
 *
 * @throws UnknownShape
 */
export function writeCount(target: StatementTarget, model: string, { where }: ReadParameters): ReadStatement {
  const writer = new StatementWriter(target);
  const alias = writer.alias();
  const joins: string[] = [];
  const condition = where ? writeFilter({ writer, model, alias, joins }, where, ['where']) : '1=1';
  const from = [writer.from(model, alias), ...joins].join(' ');
  const count = `SELECT COUNT(*) FROM ${from} WHERE ${condition}`;
  const query = target.keepsTotals ? countUnlessKnown(count, writer.plain(['state'], 'String'), writer.tables) : count;
  return { ...writer.finish(query), kinds: {}, rewrite: false };
}

/** Where records stand in the answer. */
interface Place {
  /** What links them to the one that they are read for. */
  readonly parent?: Parent;
  /** The number of records that a page reads within, where its plan is to be kept. */
  readonly window?: number | undefined;
}

/** What links records to the one that they are read for. */
interface Parent {
  readonly link: RelationLink;
  readonly alias: string;
}

/** The scopes of the records that an order leads to, and where they stand in the parameters. */
interface OrderScope {
  readonly scopes: OrderScopes;
  readonly path: ValuePath;
}

interface Written {
  readonly query: string;
  readonly kinds: RecordKinds;
}

class Reading {
  readonly writer: StatementWriter;
  readonly #dataModel: DataModel;
  rewrite = false;

  constructor(target: StatementTarget) {
    this.writer = new StatementWriter(target);
    this.#dataModel = target.dataModel;
  }

  /** A query of the objects of records: inside those are found, so that JSON is made of no other. */
  records(model: string, parameters: ReadParameters, path: ValuePath, place: Place): Written {
    const { writer } = this;
    const outer = writer.alias();
    const { fields, columns, kinds } = this.#object(model, parameters.select ?? {}, outer, [...path, 'select']);
    const found = this.#found(model, columns, parameters, path, place);
    return { query: writer.dialect.objects(fields, `(${found}) AS ${outer}`), kinds };
  }

  #found(
    model: string,
    columns: ReadonlySet<string>,
    { where, orderBy, orderScopes = {}, take, skip }: ReadParameters,
    path: ValuePath,
    { parent, window }: Place,
  ): string {
    const { writer } = this;
    const alias = writer.alias();
    const { from, condition } = this.#source(model, alias, where, path, parent);
    // In the order, PostgreSQL may walk through the records of all parents until it has found some of this one, if there are any.
    const found = parent && !isLookup(where) ? writer.dialect.foundFirst?.(from, condition, alias) : undefined;
    const joins: string[] = [];
    const scope = { scopes: orderScopes, path: [...path, 'orderScopes'] };
    const order = orderBy?.map((term) => this.#order(model, alias, term, joins, scope)).join(', ');
    const listed = (of: string) => [...columns].map((column) => writer.column(of, column)).join(', ');
    const page = (wanted: string) => {
      const sorted = [
        `SELECT ${wanted} FROM ${[found ?? from, ...joins].join(' ')}`,
        ...(found === undefined ? [`WHERE ${condition}`] : []),
        ...(order ? [`ORDER BY ${order}`] : []),
      ].join(' ');
      return [
        window === undefined ? sorted : writer.dialect.window(sorted, window, writer.alias()),
        ...(take === undefined ? [] : [`LIMIT ${writer.plain([...path, 'take'], 'BigInt')}`]),
        ...(skip ? [`OFFSET ${writer.plain([...path, 'skip'], 'BigInt')}`] : []),
      ].join(' ');
    };
    const id = this.#dataModel.models[model]?.fields.id?.column;
    const inOrderOf = order && skip ? writer.dialect.inOrderOf : undefined;
    if (inOrderOf === undefined || id === undefined) return page(listed(alias));
    const [keys, records] = [writer.alias(), writer.alias()];
    const source = inOrderOf(`(${page(writer.column(alias, id))}) AS ${keys}`, writer.from(model, records));
    return `SELECT ${listed(records)} FROM ${source} ON ${writer.equal(records, [id], keys, [id])}`;
  }

  /** What records are read from, with what their filter needs beside them, and which of them are meant. */
  #source(model: string, alias: string, where: Filter | undefined, path: ValuePath, parent: Parent | undefined) {
    const { writer } = this;
    const joins: string[] = [];
    const filter = where && writeFilter({ writer, model, alias, joins }, where, [...path, 'where'], !parent);
    if (!parent) return { from: [writer.from(model, alias), ...joins].join(' '), condition: filter ?? '1=1' };
    const { source, holder, columns } = relatedSource(writer, parent.link, alias);
    const linked = writer.equal(parent.alias, parent.link.here, holder, columns);
    return { from: [source, ...joins].join(' '), condition: filter ? `${filter} AND ${linked}` : linked };
  }

  #order(model: string, alias: string, term: Filter, joins: string[], scope?: OrderScope): string {
    const { writer } = this;
    const [[name, sort], ...others] = Object.entries(term) as [[string, unknown]];
    if (others.length > 0) throw new UnknownShape('an order of several keys');
    const field = fieldOf(this.#dataModel, model, name);
    if (field.relation) {
      const link = relationLink(this.#dataModel, model, name);
      if (link.many) throw new UnknownShape('an order by many records');
      const other = writer.alias();
      const inScope = scope?.scopes[name];
      const where = inScope?.where;
      const path = [...(scope?.path ?? []), name, 'where'];
      const source = where ? this.#inScope(link.model, other, where, path) : writer.from(link.model, other);
      joins.push(`LEFT JOIN ${source} ON ${writer.equal(other, link.there, alias, link.here)}`);
      // A record out of scope counts as missing, so every field of it may be null.
      return this.#order(link.model, other, inScope ? nullsLast(sort as Filter) : (sort as Filter), joins);
    }
    const { direction, nulls } = sortOf(sort);
    return writer.dialect.order(writer.column(alias, field.column), direction, nulls);
  }

  /** The records of a model that are in a scope, as a table. */
  #inScope(model: string, name: string, where: Filter, path: ValuePath): string {
    const { writer } = this;
    const alias = writer.alias();
    const joins: string[] = [];
    const condition = writeFilter({ writer, model, alias, joins }, where, path);
    const from = [writer.from(model, alias), ...joins].join(' ');
    return `(SELECT ${alias}.* FROM ${from} WHERE ${condition}) AS ${name}`;
  }

  /** The fields of an object with their values, the columns that these need, and what is left to do with them. */
  #object(model: string, select: Selection, alias: string, path: ValuePath) {
    const fields: [name: string, sql: string][] = [];
    const columns = new Set<string>();
    const kinds: RecordKinds = {};
    for (const [name, part] of partsInOrder(select)) {
      const field = fieldOf(this.#dataModel, model, name);
      if (!field.relation) {
        if (part !== true || field.list || Buffer.byteLength(name) > 63) throw new UnknownShape(`select of ${name}`);
        const { sql, kind, rewrite } = this.#column(field, alias);
        fields.push([name, sql]);
        columns.add(field.column);
        if (kind) kinds[name] = kind;
        this.rewrite ||= rewrite ?? false;
      } else {
        const link = relationLink(this.#dataModel, model, name);
        const related = this.#related(link, part as ReadParameters, alias, [...path, name]);
        fields.push([name, related.query]);
        for (const column of link.here) columns.add(column);
        kinds[name] = related.kinds;
      }
    }
    return { fields, columns, kinds };
  }

  #column(field: ReturnType<typeof fieldOf>, alias: string): JsonColumn {
    const stored = Object.entries(this.#dataModel.enums[field.type] ?? {});
    return this.writer.dialect.json(this.writer.column(alias, field.column), field, stored);
  }

  #related(link: RelationLink, part: ReadParameters, alias: string, path: ValuePath): Written {
    const { dialect } = this.writer;
    const parent = { link, alias };
    if (!link.many) return this.#one(link.model, part, path, parent);
    if (part.take === undefined) throw new UnknownShape('all related records');
    const { query, kinds } = this.records(link.model, part, path, { parent });
    return { query: dialect.list(query), kinds };
  }

  /** The object of the record that a relation leads to, or null: there is nothing to sort, so it is one query and no two. */
  #one(model: string, { where, select = {} }: ReadParameters, path: ValuePath, parent: Parent): Written {
    const { writer } = this;
    const alias = writer.alias();
    const { from, condition } = this.#source(model, alias, where, path, parent);
    const { fields, kinds } = this.#object(model, select, alias, [...path, 'select']);
    const query = writer.dialect.objects(fields, `${from} WHERE ${condition}`);
    return { query: writer.dialect.one(query), kinds };
  }
}

/** As the ORM gives them; where relations to many are read for themselves, `id` stands first and those last. */
function partsInOrder(select: Selection): [string, unknown][] {
  const parts = Object.entries(select);
  const many = parts.filter(([, part]) => isMany(part));
  if (many.length === 0) return parts;
  const isId = ([name]: [string, unknown]) => name === 'id';
  return [...parts.filter(isId), ...parts.filter((entry) => !isId(entry) && !isMany(entry[1])), ...many];
}

function isMany(part: unknown): boolean {
  return typeof part === 'object' && part !== null && 'take' in part;
}

function nullsLast(term: Filter): Filter {
  const entries = Object.entries(term).map(([name, sort]) => [name, { sort: sortOf(sort).word, nulls: 'last' }]);
  return Object.fromEntries(entries);
}

function sortOf(sort: unknown): { word: 'asc' | 'desc'; direction: 'ASC' | 'DESC'; nulls: boolean } {
  const { sort: direction, nulls } =
    typeof sort === 'string' ? { sort, nulls: undefined } : (sort as Record<string, unknown>);
  if (nulls !== undefined && nulls !== 'last') throw new UnknownShape('nulls first');
  if (direction !== 'asc' && direction !== 'desc') throw new UnknownShape('a direction');
  return { word: direction, direction: direction === 'asc' ? 'ASC' : 'DESC', nulls: nulls === 'last' };
}
