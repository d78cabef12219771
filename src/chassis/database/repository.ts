import { stopAbandoned } from '../context/request-context.ts';
import { asMaker } from '../context/run-as.ts';
import { notFoundMessage } from '../errors/error-body.ts';
import { NotFoundException } from '../errors/exceptions.ts';
import { type StoredJson, type StoredList, storedPage, TotalHints } from '../query/paging/paging.ts';
import type { Filter, FindQuery, PageResult, SearchQuery, Selection } from '../query/query-types.ts';
import { currentUnit, isSurrounded } from './client/current-work.ts';
import type { ReadPlace } from './client/database-kind.ts';
import type { DelegateName, IdOf, ModelOf, OrmClient, RecordOf } from './client/orm-types.ts';
import { type EachRecordOptions, eachRecord } from './each-record.ts';
import { delegateOf, modelNameOf } from './models/delegate-of.ts';
import { Coalescer, freezeRecords, raiseShared, readKey, StoredRecords } from './reads/coalesce.ts';
import { toOrmQuery, toProviderQuery } from './reads/provider-filter.ts';
import { type SplitSelection, splitSelection, withRelated } from './reads/related-records.ts';
import { scopedRead } from './scope/scoped-query.ts';
import type { JsonReader } from './statements/json-reader.ts';
import type { ReadParameters } from './statements/write-statement.ts';
import { ChangedRows } from './work/changed-rows.ts';

/** What is asked of a model. */
type Parameters = ReadParameters & { [option: string]: unknown };

/** A read, as it is asked for and within the scopes of the models that it reaches. */
interface Asked {
  readonly operation: 'findMany' | 'count';
  readonly parameters: Parameters;
  readonly scoped: Parameters;
}

/**
 * The base of a module's repositories: the only classes that know the ORM. `D` is the model's accessor, e.g. `'product'`;
 * its primary key is called `id`. Everything it raises is an exception of the chassis (spec.md: Errors, body rule 7),
 * also in methods that a subclass adds on `this.orm`.
 *
 * `findMany`, `findPage` and `count` share equal reads (see Coalescer), so their records are frozen: copy one to change
 * it. Inside a unit of work, which every repository joins by itself, nothing is shared.
 */
export abstract class Repository<D extends DelegateName> extends ChangedRows<D> {
  private readonly coalescer: Coalescer;
  private readonly totals = new TotalHints();
  // Made when first asked for: `model` is a field of the subclass, which this constructor does not see yet.
  private knownName?: ModelOf<D>;

  constructor({ orm }: { orm: OrmClient }) {
    super({ orm });
    this.coalescer = new Coalescer({ counts: this.kind.counts, untilTurn: true });
  }

  /** The records of a find list, at most `query.take` of them. */
  async findMany(query: FindQuery): Promise<RecordOf<D>[]> {
    const found = await this.found(query);
    return (found instanceof StoredRecords ? found.records : found) as RecordOf<D>[];
  }

  /** The same for an answer, from a replica where that has it all: as JSON where the database made it, whose records are made once asked for. */
  findStored(query: FindQuery): Promise<StoredList<RecordOf<D>> | readonly RecordOf<D>[]> {
    return this.findMany === Repository.prototype.findMany ? this.found(query, true) : this.findMany(query);
  }

  /**
   * All records that match, in the order of their ids, one batch in memory at a time; for exports and jobs. Each batch
   * begins behind the last record of the one before, so it costs the same however many came before. There is no transaction
   * around them: a record that is stored or changed meanwhile may be among them or not, and none comes twice. Within `runAs`
   * or `unscoped` they are those of who acts there, wherever they are gone through.
   */
  each(options?: EachRecordOptions): AsyncGenerator<RecordOf<D>, void, undefined> {
    const isOwn = this.findMany !== Repository.prototype.findMany;
    return asMaker(eachRecord<RecordOf<D>>((query) => (isOwn ? this.findMany(query) : this.found(query)), options));
  }

  /**
   * One page and its total (spec.md: Paginated result): both at once, unless the page is likely to show the total by
   * itself. A total that the page shows is not counted. `total` follows the same filter and is right past the last page;
   * it is null with `count: 'none'`. With a cursor the page follows that position and carries `nextCursor`.
   */
  async findPage(query: SearchQuery): Promise<PageResult<RecordOf<D>>> {
    const { page, pageSize, skip, take, countWhere } = query;
    const { findMany, count } = this.pageReads;
    if (query.count === 'none') return pageOf(query, await findMany(query), { page, pageSize, total: null });
    const hintKey = readKey(this.scopeKey() ?? '', { where: countWhere });
    const likelyShown = startsAtFirst(query) && this.totals.endsWithin(hintKey, skip + take);
    const counting = likelyShown ? undefined : count(countWhere);
    // When the page shows the total, the count is not awaited, so its failure is handled here.
    counting?.catch(() => undefined);
    const rows = await findMany(query);
    const shown = startsAtFirst(query) ? revealedTotal(skip, take, rows.length) : undefined;
    const total = shown ?? (await (counting ?? count(countWhere)));
    this.totals.remember(hintKey, total);
    return pageOf(query, rows, { page, pageSize, total });
  }

  /** Tells the caller's rows from those of others: equal where the scope gives the same. Undefined where all see all. */
  scopeKey(): string | undefined {
    const { rules } = this.kind;
    if (rules.ruled && !rules.ruled.has(this.modelName)) return undefined;
    const filter = rules.filterOf(this.modelName);
    return filter && readKey('', filter);
  }

  /** How many records match a filter; all without one. */
  count(where?: Filter): Promise<number> {
    return this.counted(where);
  }

  /** The record with this identifier, or null. */
  async findById(id: IdOf<D>, select?: Selection): Promise<RecordOf<D> | null> {
    const stored = await this.stored(id, select);
    if (stored) return (stored.fresh()[0] ?? null) as RecordOf<D> | null;
    const selection = this.selection(select);
    const split = splitSelection(selection?.select);
    const record = await this.delegate.findUnique({ where: { id }, ...selection, ...(split && { select: split.own }) });
    const [complete] = record && split ? await this.completed([record], split) : [record];
    return (complete ?? null) as RecordOf<D> | null;
  }

  /** The record with this identifier. @throws NotFoundException when there is none */
  async getById(id: IdOf<D>, select?: Selection): Promise<RecordOf<D>> {
    const record = await this.findById(id, select);
    if (!record) throw new NotFoundException(notFoundMessage(this.modelName));
    return record;
  }

  /** The same for a response that no code reads: as JSON where the database made it. @throws NotFoundException when there is none */
  async getStored(id: IdOf<D>, select: Selection): Promise<StoredJson | RecordOf<D>> {
    const { getById, findById } = Repository.prototype;
    const isOwn = this.getById !== getById || this.findById !== findById;
    const stored = isOwn ? undefined : await this.stored(id, select);
    if (!stored) return this.getById(id, select);
    if (stored.length === 0) throw new NotFoundException(notFoundMessage(this.modelName), undefined, { stack: false });
    return stored.first;
  }

  protected get modelName(): ModelOf<D> {
    this.knownName ??= modelNameOf(this.model) as ModelOf<D>;
    return this.knownName;
  }

  private parameters({ where, orderBy, take, select, skip }: FindQuery & Partial<SearchQuery>): Parameters {
    return { ...(where && { where }), select, orderBy, take, ...(skip && { skip }) };
  }

  /** A read within the scopes of the models that it reaches, for the database; the ORM's client makes the same of what it is asked. */
  private forReader(parameters: Parameters): Parameters {
    const isPlain = this.kind.rules.isEmpty && !parameters.orderBy?.some(leadsToRelated);
    const scoped = isPlain ? parameters : scopedRead(this.kind, this.modelName, parameters);
    return toProviderQuery(scoped, this.kind);
  }

  /** What reads JSON; not within a unit of work or a transaction, whose connection is the ORM's. */
  private get reader(): JsonReader | undefined {
    const { reader, readsJson } = this.kind;
    return readsJson && !currentUnit(this.client) && !isSurrounded(this.client) ? reader : undefined;
  }

  /** What a page and its total are read by: both as lists, unless a subclass reads one of them in its own way. */
  private get pageReads() {
    const { findMany, count } = Repository.prototype;
    const isList = this.findMany === findMany && this.count === count;
    return {
      findMany: (query: SearchQuery) => (this.findMany === findMany ? this.found(query, isList) : this.findMany(query)),
      count: (where?: Filter) => (this.count === count ? this.counted(where, isList) : this.count(where)),
    };
  }

  /** @param isList whether it may be read from a replica */
  private found(query: FindQuery, isList = false): Promise<StoredRecords<RecordOf<D>> | RecordOf<D>[]> {
    const found = this.shared('findMany', this.parameters(query), isList);
    return found as Promise<StoredRecords<RecordOf<D>> | RecordOf<D>[]>;
  }

  private counted(where: Filter | undefined, isList = false): Promise<number> {
    return this.shared('count', where ? { where } : {}, isList) as Promise<number>;
  }

  private async stored(id: IdOf<D>, select: Selection | undefined): Promise<StoredRecords | undefined> {
    const { reader } = this;
    if (!select || !reader) return undefined;
    return reader.findUnique(this.modelName, this.forReader({ where: { id }, select }));
  }

  private async read(asked: Asked, { client, kind }: ReadPlace): Promise<unknown> {
    const { operation, parameters, scoped } = asked;
    // The ORM cannot sort by records in a scope; the reader can, in a unit of work too.
    const unit = currentUnit(this.client);
    const isForReader = (kind.readsJson && !unit) || sortsInScope(scoped);
    const reader = isForReader && (unit || !isSurrounded(this.client)) ? kind.reader : undefined;
    const stored = await (operation === 'count'
      ? reader?.count(this.modelName, scoped.where)
      : reader?.findMany(this.modelName, scoped, unit));
    if (stored !== undefined) return stored;
    const query = toOrmQuery(parameters, this.kind);
    const delegate = delegateOf(client, this.model);
    const split = operation === 'findMany' ? splitSelection(query.select) : undefined;
    if (!split) return delegate[operation](query);
    return this.completed(await delegate.findMany({ ...query, select: split.own }), split, client);
  }

  private completed(records: object[], split: SplitSelection, client: object = this.orm): Promise<object[]> {
    return withRelated(client, this.modelName, records, split, this.kind.dataModel);
  }

  /** The key is made of what is really asked of the database, so no caller can meet another's filter. */
  private async shared(operation: Asked['operation'], parameters: Parameters, isList: boolean): Promise<unknown> {
    const asked = { operation, parameters, scoped: this.forReader(parameters) };
    const unit = currentUnit(this.client);
    const here = () => this.read(asked, { client: unit?.transaction ?? this.client, kind: this.kind });
    const key = unit ? undefined : readKey(operation, asked.scoped);
    if (key === undefined) return here();
    stopAbandoned();
    const replica = isList && !isSurrounded(this.client) ? this.kind.replica : undefined;
    const read = replica ? () => replica.read((there) => this.read(asked, there), here) : here;
    return this.coalescer.run(key, async () => freezeRecords(await read())).catch(raiseShared);
  }
}

/** Whether a term of an order is the field of a related record, which may be missing. */
function leadsToRelated(term: object): boolean {
  return Object.values(term).some((sort) => typeof sort === 'object' && !('sort' in sort));
}

/** Whether records are counted from the first of the list on; those after a cursor tell nothing of the ones before. */
function startsAtFirst({ cursor }: SearchQuery): boolean {
  return cursor === undefined || cursor.after === undefined;
}

function pageOf<T extends object>(
  { cursor, pageSize }: SearchQuery,
  rows: StoredRecords<T> | T[],
  rest: Omit<PageResult<T>, 'data'>,
): PageResult<T> {
  if (rows instanceof StoredRecords && !cursor) return storedPage(rows, rest);
  // To parse a page of thousands of related records at once would keep the event loop for a tenth of a second.
  if (rows instanceof StoredRecords && cursor?.isAsAsked) {
    const nextCursor = rows.length > pageSize ? cursor.cursorAt(rows.at(pageSize - 1)) : null;
    return storedPage(rows.upTo(pageSize), { ...rest, nextCursor });
  }
  const records = rows instanceof StoredRecords ? (rows.records as T[]) : rows;
  return { ...(cursor ? cursor.finish(records, pageSize) : { data: records }), ...rest };
}

/**
 * The total that a page reveals by itself: one that is not full, and not empty past the first record, ends the list.
 * Undefined when only a count can tell.
 */
function revealedTotal(skip: number, take: number, found: number): number | undefined {
  return found < take && (found > 0 || skip === 0) ? skip + found : undefined;
}

/** Whether a read sorts its records, or related ones that it gives, by records in a scope. */
function sortsInScope({ orderScopes, select }: Pick<Parameters, 'orderScopes' | 'select'>): boolean {
  const isSorted = (part: unknown) => typeof part === 'object' && part !== null && sortsInScope(part);
  return orderScopes !== undefined || Object.values(select ?? {}).some(isSorted);
}
