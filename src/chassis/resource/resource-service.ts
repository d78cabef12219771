import type { EachRecordOptions } from '../database/each-record.ts';
import type { UnitOfWorkOptions } from '../database/work/unit-of-work.ts';
import type { StoredJson, StoredList } from '../query/paging/paging.ts';
import type { FindQuery, PageResult, SearchQuery, Selection } from '../query/query-types.ts';

/** What a resource's service needs of its repository; `Repository` fulfils it. */
export interface ResourceRepository {
  findMany(query: FindQuery): Promise<readonly object[]>;
  findPage(query: SearchQuery): Promise<PageResult<object>>;
  each?(options?: EachRecordOptions): AsyncIterable<object>;
  /** As `findMany`, for an answer. */
  findStored?(query: FindQuery): Promise<StoredList | readonly object[]>;
  // biome-ignore lint/suspicious/noExplicitAny: each model has its own type of identifier
  getStored?(id: any, select: Selection): Promise<StoredJson | object>;
  // biome-ignore lint/suspicious/noExplicitAny: each model has its own type of identifier
  getById(id: any, select?: Selection): Promise<object>;
  // biome-ignore lint/suspicious/noExplicitAny: each repository has its own input types
  create(data: any, select?: Selection): Promise<object>;
  // biome-ignore lint/suspicious/noExplicitAny: each repository has its own identifier and input types
  update(id: any, data: any, select?: Selection): Promise<object>;
  // biome-ignore lint/suspicious/noExplicitAny: each model has its own type of identifier
  delete(id: any): Promise<unknown>;
  unitOfWork<T>(work: () => Promise<T>, options?: UnitOfWorkOptions): Promise<T>;
  /** Tells the caller's rows from those of others. */
  scopeKey?(): string | undefined;
  /** The column that tells versions of a record apart. */
  readonly versionColumn?: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: each model has its own type of identifier
  ifVersion?<T>(id: any, tags: readonly string[], work: () => Promise<T>): Promise<T>;
}

/** The type of identifier that a repository takes. */
type RepositoryId<R extends ResourceRepository> = Parameters<R['getById']>[0];

/** What a repository's `create` takes. */
type StoredInput<R extends ResourceRepository> = Parameters<R['create']>[0];

/** What a repository's `update` takes. */
type StoredChange<R extends ResourceRepository> = Parameters<R['update']>[1];

type KeyOf<T> = T extends unknown ? keyof T : never;

/** An input that the repository takes as it is. Any other needs a method of one's own, which the compiler then asks for. */
type TakenBy<Stored, Input, Method extends string> = [Input, Exclude<keyof Input, KeyOf<Stored>>] extends [
  Stored,
  never,
]
  ? Input
  : Input & { readonly [K in `${Method}() has to be replaced: the repository does not take this`]: never };

/**
 * The rules of a resource, free of HTTP and of the ORM. Every method can be replaced by one of your own that adds a
 * rule and calls `super`; an exception that it raises answers the request.
 *
 * Name `Create` and `Update` where a body brings more than columns or less than the repository needs, such as a list of
 * related records, and replace `create` and `update`: they call `this.repository` with what it takes.
 */
export class ResourceService<
  R extends ResourceRepository = ResourceRepository,
  Create = StoredInput<R>,
  Update = StoredChange<R>,
> {
  /** Only for the compiler: ties a service to its repository where a module registers both. */
  declare readonly repositoryType?: R;
  protected readonly repository: R;
  /**
   * What the constructor was given: from the container all that modules provide, by name. Take from it in the class what the
   * service needs, so that a name that nobody provides is a type error, and fails the start.
   *
   * @example readonly #stock = this.cradle.stockRepository;
   */
  protected readonly cradle: Slipway.Cradle;

  constructor(cradle: { repository: R }) {
    this.repository = cradle.repository;
    this.cradle = cradle as unknown as Slipway.Cradle;
  }

  /** Records that match, at most as many as the list policy's `findLimit`. */
  list(query: FindQuery): Promise<readonly object[]> {
    return this.repository.findMany(query);
  }

  /** One page of the records that match, and how many there are. */
  paginate(query: SearchQuery): Promise<PageResult<object>> {
    return this.repository.findPage(query);
  }

  /** All records that match, for `streamAll` of the controller: one batch in memory at a time. See `each` of a repository. */
  each(options?: EachRecordOptions): AsyncIterable<object> {
    if (this.repository.each) return this.repository.each(options);
    throw new Error(
      `Expected a method each of ${this.repository.constructor.name}, found none; add one that gives its records.`,
    );
  }

  /** The record with this id. @throws NotFoundException when there is none */
  get(id: RepositoryId<R>, select?: Selection): Promise<object> {
    return this.repository.getById(id, select);
  }

  /** The field of records that tells their versions apart; undefined where they have none. */
  get versionColumn(): string | undefined {
    return this.repository.versionColumn;
  }

  /** Runs a change that is to be made to a version of the record with one of these entity tags only. @throws PreconditionFailedException */
  ifVersion<T>(id: RepositoryId<R>, tags: readonly string[], work: () => Promise<T>): Promise<T> {
    return this.repository.ifVersion?.(id, tags, work) ?? work();
  }

  /** Tells the rows of this caller from those of others, so that no cursor is good for both; undefined where all see all. */
  scopeKey(): string | undefined {
    return this.repository.scopeKey?.();
  }

  /** What `list` gives, for an answer: as JSON where the database made it and no rule of this service looks at the records. */
  async listStored(query: FindQuery): Promise<StoredList | readonly object[]> {
    const isOwn = this.list !== ResourceService.prototype.list;
    return (isOwn ? undefined : await this.repository.findStored?.(query)) ?? this.list(query);
  }

  /** What `get` gives, as JSON where the database made it and no rule of this service looks at the record. */
  async getStored(id: RepositoryId<R>, select: Selection): Promise<StoredJson | object> {
    const isOwn = this.get !== ResourceService.prototype.get;
    return (isOwn ? undefined : await this.repository.getStored?.(id, select)) ?? this.get(id, select);
  }

  /** Stores a new record. @throws ConflictException when a unique value is taken */
  create(input: TakenBy<StoredInput<R>, Create, 'create'>, select?: Selection): Promise<object> {
    return this.repository.create(input, select);
  }

  /** Changes the given fields of a record. @throws NotFoundException when there is none */
  update(id: RepositoryId<R>, input: TakenBy<StoredChange<R>, Update, 'update'>, select?: Selection): Promise<object> {
    return this.repository.update(id, input, select);
  }

  /** Removes a record. @throws NotFoundException when there is none */
  async delete(id: RepositoryId<R>): Promise<void> {
    await this.repository.delete(id);
  }

  /** Runs `work` in one unit of work, for who calls several methods; one inside another is a savepoint. */
  together<T>(work: () => Promise<T>): Promise<T> {
    return this.unitOfWork(work, { retries: 3 });
  }

  /** Runs `work` so that all it writes is stored or nothing; all repositories on the same database join. See `unitOfWork`. */
  protected unitOfWork<T>(work: () => Promise<T>, options?: UnitOfWorkOptions): Promise<T> {
    return this.repository.unitOfWork(work, options);
  }
}
