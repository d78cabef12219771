import { currentPrincipal } from '../../context/principal.ts';
import { modelWords } from '../../errors/error-body.ts';
import { ForbiddenException, InternalServerErrorException } from '../../errors/exceptions.ts';
import type { Filter } from '../../query/query-types.ts';
import type { DataField } from '../models/data-model.ts';
import { asList } from '../reads/provider-filter.ts';
import type { ScopedDatabase, ScopedQuery } from './scoped-query.ts';

type Data = Record<string, unknown>;

/** Records that a write refers to by their key, which have to be in the caller's scope. */
export interface Reference {
  /** The model that refers, and by which of its fields. */
  readonly from: string;
  readonly fields: readonly string[];
  readonly model: string;
  readonly key: Filter;
}

/** What a write does with the rows of a model. */
type Write = 'create' | 'update';

/**
 * Puts the scope of each model that a write reaches into its data: new rows get the columns that the scope fixes, related
 * rows are those in scope, and the columns of who wrote are filled. Keys of other rows are gathered in `references`.
 */
export class ScopedData {
  readonly references: Reference[] = [];
  readonly #database: ScopedDatabase;
  readonly #query: ScopedQuery;

  constructor(database: ScopedDatabase, query: ScopedQuery) {
    this.#database = database;
    this.#query = query;
  }

  /**
   * The data of one row or of several.
   *
   * @throws ForbiddenException where it names another value for a column that the scope fixes
   */
  rows(model: string, data: unknown, write: Write): unknown {
    return Array.isArray(data)
      ? data.map((row) => this.#row(model, row as Data, write))
      : this.#row(model, data as Data, write);
  }

  #row(model: string, data: Data, write: Write): Data {
    const row: Data = {};
    for (const [name, value] of Object.entries(data)) {
      const field = this.#query.relation(model, name);
      row[name] =
        field && typeof value === 'object' && value !== null
          ? this.#related(field.type, this.#withoutSet(model, name, value as Data), field.list)
          : value;
    }
    this.#fix(model, row, write);
    this.#sign(model, row, write);
    this.#count(model, row, write);
    this.#gather(model, row);
    return row;
  }

  #fix(model: string, row: Data, write: Write): void {
    for (const [column, value] of Object.entries(fixedColumns(this.#query.filterOf(model)))) {
      const given = written(row[column]);
      if (given === undefined) {
        if (write === 'create') row[column] = value;
      } else if (!same(given, value)) throw foreign(model, column);
    }
  }

  #sign(model: string, row: Data, write: Write): void {
    const { authors } = this.#database.rules.of(model);
    if (!authors) return;
    const { created, updated } = authors;
    const { userId } = currentPrincipal() ?? {};
    if (created !== undefined) delete row[created];
    if (updated !== undefined) delete row[updated];
    if (userId === undefined) return;
    if (write === 'create' && created !== undefined) row[created] = userId;
    if (updated !== undefined) row[updated] = userId;
  }

  /** A number counts the updates of its row; a moment of the last change the ORM keeps by itself. */
  #count(model: string, row: Data, write: Write): void {
    const { version } = this.#database.rules.of(model);
    const type = this.#database.dataModel.models[model]?.fields[version ?? '']?.type;
    if (version === undefined || type === 'DateTime') return;
    delete row[version];
    if (write === 'update') row[version] = { increment: 1 };
  }

  #gather(model: string, row: Data): void {
    const fields = this.#database.dataModel.models[model]?.fields ?? {};
    for (const [name, { type, relation }] of Object.entries(fields)) {
      const { fields: own, references } = relation ?? {};
      if (!own || !references || !this.#query.relation(model, name) || !this.#query.filterOf(type)) continue;
      const values = own.map((field) => written(row[field]));
      if (values.some((value) => value === undefined || value === null)) continue;
      const key = Object.fromEntries(references.map((reference, index) => [reference, values[index]]));
      const isKnown = this.references.some((known) => known.model === type && sameKey(known.key, key));
      if (!isKnown) this.references.push({ from: model, fields: own, model: type, key });
    }
  }

  /** `set` takes all others away, also rows out of scope where they hold the key; of many to many it changes none of them. */
  #withoutSet(model: string, name: string, words: Data): Data {
    const { models } = this.#database.dataModel;
    const { type = '', relation } = models[model]?.fields[name] ?? {};
    const isBack = (field: DataField) =>
      field.type === model && field.relation?.name === relation?.name && field.relation?.fields !== undefined;
    const holdsKey = Object.values(models[type]?.fields ?? {}).some(isBack);
    if (words.set === undefined || !holdsKey || !this.#query.filterOf(type)) return words;
    throw new InternalServerErrorException(
      `The word set would take ${name} out of the caller's scope away from ${model}; name them by connect and disconnect.`,
    );
  }

  /** The nested writes of a relation. */
  #related(model: string, words: Data, many: boolean): Data {
    const unique = (one: unknown) => this.#query.unique(model, one as Filter);
    const each = (value: unknown, change: (one: Data) => unknown) =>
      Array.isArray(value) ? value.map((one) => change(one as Data)) : change(value as Data);
    const filter = (one: unknown) =>
      many ? unique(one) : this.#query.where(model, one === true ? {} : (one as Filter));
    const updated = (one: Data) => {
      const isWhole = 'data' in one;
      const data = this.rows(model, isWhole ? one.data : one, 'update');
      return { data, where: filter(isWhole ? (one.where ?? {}) : {}) };
    };
    const created = (one: unknown) => this.rows(model, one, 'create');
    const among = (one: Data) => ({ ...one, where: this.#query.where(model, (one.where ?? {}) as Filter) });
    const forms: Record<string, (value: unknown) => unknown> = {
      create: created,
      createMany: (value) => ({ ...(value as Data), data: created((value as Data).data) }),
      connect: (value) => each(value, unique),
      set: (value) => each(value, unique),
      disconnect: (value) => (value === false ? value : each(value, filter)),
      delete: (value) => (value === false ? value : each(value, filter)),
      connectOrCreate: (value) => each(value, (one) => ({ where: unique(one.where), create: created(one.create) })),
      update: (value) => each(value, updated),
      updateMany: (value) => each(value, (one) => ({ ...among(one), data: this.rows(model, one.data, 'update') })),
      deleteMany: (value) => each(value, (one) => this.#query.where(model, one)),
      upsert: (value) =>
        each(value, (one) => ({
          where: filter(one.where ?? {}),
          create: created(one.create),
          update: this.rows(model, one.update, 'update'),
        })),
    };
    return Object.fromEntries(
      Object.entries(words).map(([word, value]) => {
        const form = Object.hasOwn(forms, word) ? forms[word] : undefined;
        return [word, form && value !== undefined ? form(value) : value];
      }),
    );
  }
}

/** Rows that are stored together often refer to the same record, which is looked up once. */
function sameKey(one: Filter, other: Filter): boolean {
  return Object.entries(one).every(([name, value]) => same(value, other[name]));
}

/** The columns that a scope compares with one value each: those that a new row gets. */
function fixedColumns(filter: Filter | undefined): Data {
  const fixed: Data = {};
  for (const [name, value] of Object.entries(filter ?? {})) {
    if (name === 'AND') for (const part of asList(value)) Object.assign(fixed, fixedColumns(part as Filter));
    else if (isValue(value)) fixed[name] = value;
    else if (isEquals(value)) fixed[name] = value.equals;
  }
  return fixed;
}

/** Whether a scope says no more than `fixedColumns` and columns that are null, so that new rows are in it. */
export function isFixed(filter: Filter): boolean {
  return Object.entries(filter).every(([name, value]) =>
    name === 'AND'
      ? asList(value).every((part) => isFixed(part as Filter))
      : value === null || isValue(value) || isEquals(value),
  );
}

function isEquals(value: unknown): value is { equals: unknown } {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return entries.length === 1 && entries[0]?.[0] === 'equals' && isValue(entries[0][1]);
}

function isValue(value: unknown): boolean {
  return value instanceof Date || (typeof value !== 'object' && value !== undefined);
}

/** The value that a column gets; an update may say it as `{ set: value }`. */
function written(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'set' in value ? value.set : value;
}

function same(given: unknown, fixed: unknown): boolean {
  return given === fixed || (given instanceof Date && fixed instanceof Date && given.getTime() === fixed.getTime());
}

function foreign(model: string, column: string): ForbiddenException {
  return new ForbiddenException(`The ${column} of this ${modelWords(model)} is not yours to choose; leave it out`, {
    fields: [column],
  });
}
