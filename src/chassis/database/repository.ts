import { stopAbandoned } from '../context/request-context.ts';
import { notFoundMessage } from '../errors/error-body.ts';
import { NotFoundException } from '../errors/exceptions.ts';
import type { StoredJson } from '../query/paging/paging.ts';
import type { Filter, FindQuery, PageResult, SearchQuery, Selection } from '../query/query-types.ts';
import { currentUnit, isSurrounded } from './client/current-work.ts';
import type {
  CreateInput,
  DelegateName,
  IdOf,
  ModelOf,
  OrmClient,
  RecordOf,
  ScopeFilter,
  UpdateInput,
} from './client/orm-types.ts';
import { Coalescer, freezeRecords, raiseOwn, readKey } from './reads/coalesce.ts';
import { readPage, StoredRecords, TotalHints } from './reads/page.ts';
import { toOrmQuery, toProviderQuery } from './reads/provider-filter.ts';
import { type SplitSelection, splitSelection, withRelated } from './reads/related-records.ts';
import { scopedRead } from './scope/scoped-query.ts';
import type { JsonReader } from './statements/json-reader.ts';
import type { ReadParameters } from './statements/write-statement.ts';
import { AuditedRows } from './work/audited-rows.ts';

/** What is asked of a model. */
type Parameters = ReadParameters & { [option: string]: unknown };

/**
 * The base of a module's repositories: the only classes that know the ORM. `D` is the model's accessor, e.g. `'product'`;
 * its primary key is called `id`. Everything it raises is an exception of the chassis (spec.md: Errors, body rule 7),
 * also in methods that a subclass adds on `this.orm`.
 *
 * `findMany`, `findPage` and `count` share equal reads (see Coalescer), so their records are frozen: copy one to change
 * it. Inside a unit of work, which every repository joins by itself, nothing is shared.
 */
export abstract class Repository<D extends DelegateName> extends AuditedRows<D> {
  private readonly coalescer: Coalescer;
  private readonly totals = new TotalHints();

  constructor({ orm }: { orm: OrmClient }) {
    super({ orm });
    this.coalescer = new Coalescer(this.kind.counts);
  }

  /** The records of a find list, at most `query.take` of them. */
  async findMany(query: FindQuery): Promise<RecordOf<D>[]> {
    const found = await this.found(query);
    return (found instanceof StoredRecords ? found.records : found) as RecordOf<D>[];
  }

  /** The same for a response that no code reads: as JSON where the database made it. */
  findStored(query: FindQuery): Promise<StoredJson | readonly RecordOf<D>[]> {
    return this.findMany === Repository.prototype.findMany ? this.found(query) : this.findMany(query);
  }

  /**
   * One page and its total (spec.md: Paginated result). `total` follows the same filter and is right past the last page;
   * it is null with `count: 'none'`. With a cursor the page follows that position and carries `nextCursor`.
   */
  findPage(query: SearchQuery): Promise<PageResult<RecordOf<D>>> {
    const findMany = this.findMany === Repository.prototype.findMany ? this.found : this.findMany;
    return readPage(
      query,
      { findMany: (page) => findMany.call(this, page), count: (where) => this.count(where) },
      this.totals,
      this.scopeKey(),
    );
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
    return this.shared('count', where ? { where } : {}) as Promise<number>;
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

  /**
   * Stores a new record.
   *
   * @throws ConflictException when it is a duplicate or refers to a record that is not there, ForbiddenException when it
   * would be out of the caller's scope
   */
  async create(data: CreateInput<D>, select?: Selection): Promise<RecordOf<D>> {
    const write = () => this.delegate.create({ data, ...this.selection(select) }) as Promise<RecordOf<D>>;
    return this.audited('create', undefined, write);
  }

  /**
   * Changes a record.
   *
   * @param expected the version that the caller has seen, where the repository declares `version`
   * @throws NotFoundException when there is none, PreconditionFailedException when it is another version, and what
   * `create` raises
   */
  async update(
    id: IdOf<D>,
    data: UpdateInput<D>,
    select?: Selection,
    expected?: { version: unknown },
  ): Promise<RecordOf<D>> {
    const versions = this.expectedVersions(id, expected);
    const one = { data, ...this.selection(select) };
    const write = async () => {
      if (!versions) return this.delegate.update({ where: { id }, ...one });
      const changed = { ...one, where: this.versionFilter(id, versions), data: this.withLaterMoment(data, versions) };
      const [record] = await this.delegate.updateManyAndReturn(changed);
      return record ?? this.refuseVersion(id);
    };
    return this.audited('update', id, write as () => Promise<RecordOf<D>>);
  }

  /**
   * Changes a record on condition that it fits a filter, which the statement itself checks: of many who ask at once, one
   * gets what there is only once. For states and stock: `updateIf(id, { status: 'draft' }, { status: 'placed' })`.
   *
   * @returns null when the record does not fit
   * @throws NotFoundException when there is none, and what `update` raises
   */
  async updateIf(
    id: IdOf<D>,
    condition: ScopeFilter<D>,
    data: UpdateInput<D>,
    select?: Selection,
  ): Promise<RecordOf<D> | null> {
    const versions = this.expectedVersions(id, undefined);
    const expected = versions ? this.versionFilter(id, versions) : { id };
    const changed = { ...this.selection(select), data: versions ? this.withLaterMoment(data, versions) : data };
    const write = async () => {
      const query = toOrmQuery({ where: { AND: [expected, condition as Filter] } }, this.kind);
      const [record] = await this.delegate.updateManyAndReturn({ ...changed, ...query });
      if (!record && (await this.delegate.count({ where: expected })) === 0) await this.refuseVersion(id);
      return record ?? null;
    };
    return this.audited('update', id, write as () => Promise<RecordOf<D> | null>);
  }

  /** Deletes a record. @throws NotFoundException when there is none, ConflictException when others refer to it, and what `update` raises of versions */
  async delete(id: IdOf<D>, expected?: { version: unknown }): Promise<void> {
    const versions = this.expectedVersions(id, expected);
    return this.audited('delete', id, () => this.#remove(id, versions));
  }

  async #remove(id: IdOf<D>, versions: readonly unknown[] | undefined): Promise<void> {
    const data = this.softDelete === undefined ? undefined : { [this.softDelete]: new Date() };
    const one = { where: { id }, select: { id: true } };
    if (!versions) await (data ? this.delegate.update({ ...one, data }) : this.delegate.delete(one));
    else {
      const where = this.versionFilter(id, versions);
      const { count } = await (data ? this.delegate.updateMany({ where, data }) : this.delegate.deleteMany({ where }));
      if (count === 0) await this.refuseVersion(id);
    }
  }

  protected get modelName(): ModelOf<D> {
    return (this.model.charAt(0).toUpperCase() + this.model.slice(1)) as ModelOf<D>;
  }

  private selection(select: Selection | undefined): { select: Selection } | undefined {
    return select && toOrmQuery({ select }, this.kind);
  }

  private parameters({ where, orderBy, take, select, skip }: FindQuery & Partial<SearchQuery>): Parameters {
    return { ...(where && { where }), select, orderBy, take, ...(skip && { skip }) };
  }

  /** A read within the scopes of the models that it reaches, for the database; the ORM's client makes the same of what it is asked. */
  private forReader(parameters: Parameters): Parameters {
    const scoped = this.kind.rules.isEmpty ? parameters : scopedRead(this.kind, this.modelName, parameters);
    return toProviderQuery(scoped, this.kind);
  }

  /** What reads JSON; not within a unit of work or a transaction, whose connection is the ORM's. */
  private get reader(): JsonReader | undefined {
    const { reader, readsJson } = this.kind;
    return readsJson && !currentUnit(this.client) && !isSurrounded(this.client) ? reader : undefined;
  }

  private found(query: FindQuery): Promise<StoredRecords<RecordOf<D>> | RecordOf<D>[]> {
    return this.shared('findMany', this.parameters(query)) as Promise<StoredRecords<RecordOf<D>> | RecordOf<D>[]>;
  }

  private async stored(id: IdOf<D>, select: Selection | undefined): Promise<StoredRecords | undefined> {
    const { reader } = this;
    if (!select || !reader) return undefined;
    return reader.findUnique(this.modelName, this.forReader({ where: { id }, select }));
  }

  private async read(operation: 'findMany' | 'count', parameters: Parameters, scoped: Parameters): Promise<unknown> {
    // The ORM cannot sort by records in a scope; the reader can, in a unit of work too.
    const unit = currentUnit(this.client);
    const isForReader = scoped.orderScopes !== undefined && (unit !== undefined || !isSurrounded(this.client));
    const reader = isForReader ? this.kind.reader : this.reader;
    const stored = await (operation === 'count'
      ? reader?.count(this.modelName, scoped.where)
      : reader?.findMany(this.modelName, scoped, unit));
    if (stored !== undefined) return stored;
    const asked = toOrmQuery(parameters, this.kind);
    const split = operation === 'findMany' ? splitSelection(asked.select) : undefined;
    if (!split) return this.delegate[operation](asked);
    return this.completed(await this.delegate.findMany({ ...asked, select: split.own }), split);
  }

  private completed(records: object[], split: SplitSelection): Promise<object[]> {
    return withRelated(this.orm, this.modelName, records, split, this.kind.dataModel);
  }

  /** The key is made of what is really asked of the database, so no caller can meet another's filter. */
  private async shared(operation: 'findMany' | 'count', parameters: Parameters): Promise<unknown> {
    const scoped = this.forReader(parameters);
    const key = currentUnit(this.client) ? undefined : readKey(operation, scoped);
    if (key === undefined) return this.read(operation, parameters, scoped);
    stopAbandoned();
    const read = async () => freezeRecords(await this.read(operation, parameters, scoped));
    return this.coalescer.run(key, read).catch(raiseOwn);
  }
}
