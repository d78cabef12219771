import { currentPrincipal } from '../../context/request-context.ts';
import { modelWords } from '../../errors/error-body.ts';
import { ForbiddenException, InternalServerErrorException } from '../../errors/exceptions.ts';
import type { Filter } from '../../query/query-types.ts';
import type { DataField } from '../models/data-model.ts';
import { asList } from '../reads/provider-filter.ts';
import { fixedColumns, same, sameKey, written } from './fixed-columns.ts';
import {
  columnsBehind,
  columnsToStayNull,
  givesKey,
  isKeyOfMany,
  isLinking,
  type KeyRelation,
  keyRelations,
  plainKey,
  type Reference,
  sayByRelations,
  setsColumn,
} from './key-relations.ts';
import type { ScopedDatabase, ScopedQuery } from './scoped-query.ts';

type Data = Record<string, unknown>;

/** Records whose ids a write needs, to be filled in before it runs. */
export interface Lookup {
  readonly model: string;
  readonly where: Filter;
  readonly ids: unknown[];
}

/** The records that a relation leads to from those that are written. */
interface Nested {
  readonly model: string;
  readonly many: boolean;
  /** What is fixed of them, because it is the key of what is written. */
  readonly fixedKey: Data;
  /** Undefined where it is not known. */
  readonly within: Filter | undefined;
}

/** What a write does with the rows of a model. */
type Write = 'create' | 'update';

/**
 * Puts the scope of each model that a write reaches into its data: new rows get the columns that the scope fixes, those that
 * it wants to be null stay so, related rows are those in scope, and the columns of who wrote are filled, also where a body
 * names them by a relation. Keys of other rows are gathered in `references`, and what has to be looked up before in `lookups`.
 */
export class ScopedData {
  readonly references: Reference[] = [];
  readonly lookups: Lookup[] = [];
  readonly #database: ScopedDatabase;
  readonly #query: ScopedQuery;

  constructor(database: ScopedDatabase, query: ScopedQuery) {
    this.#database = database;
    this.#query = query;
  }

  /**
   * The data of one row or of several.
   *
   * @param within the rows that are updated, as far as that is known
   * @throws ForbiddenException where it names another value for a column that the scope fixes, or one where it wants null
   */
  rows(model: string, data: unknown, write: Write, within?: Filter): unknown {
    return Array.isArray(data)
      ? data.map((row) => this.#row(model, row as Data, write))
      : this.#row(model, data as Data, write, within);
  }

  #row(model: string, data: Data, write: Write, within?: Filter): Data {
    const row: Data = {};
    const relations = keyRelations(this.#database.dataModel, model);
    const fixed = fixedColumns(this.#query.filterOf(model));
    const authors = Object.values(this.#database.rules.of(model).authors ?? {});
    for (const [name, value] of Object.entries(data)) {
      const field = this.#query.relation(model, name);
      if (!field || typeof value !== 'object' || value === null) row[name] = value;
      else {
        const key = relations.find((relation) => relation.name === name);
        if (key?.fields.some((column) => authors.includes(column)) && Object.keys(value).some(isLinking)) continue;
        const words = this.#withoutSet(model, name, value as Data);
        const behind = givesKey(words) ? columnsBehind(this.#database.dataModel, model, name) : [];
        this.#expectNull(field.type, (column) => behind.includes(column));
        const fixedKey = key ? this.#fixedKey(model, key, words, fixed) : {};
        const around = within && this.#around(model, name, field, within);
        row[name] = this.#related({ model: field.type, many: field.list, fixedKey, within: around }, words);
      }
    }
    const linked = new Set(relations.flatMap(({ name, fields }) => (row[name] === undefined ? [] : fields)));
    this.#fix(model, row, fixed, write === 'create' ? linked : undefined);
    this.#expectNull(model, (column) => setsColumn(this.#database.dataModel, model, column, row));
    this.#sign(model, row, write);
    this.#count(model, row, write);
    this.#gather(model, row);
    sayByRelations(relations, row, new Set([...Object.keys(fixed), ...authors]));
    return row;
  }

  /** What a scope fixes of the record that a relation leads to, because it is the key. @throws ForbiddenException for a word that ends the relation */
  #fixedKey(model: string, { name, fields, references }: KeyRelation, words: Data, fixed: Data): Data {
    const places = [...fields.keys()].filter((index) => Object.hasOwn(fixed, fields[index] as string));
    const ends = [words.disconnect, words.delete].some((word) => word !== undefined && word !== false);
    if (places.length > 0 && ends) throw foreign(model, name);
    return Object.fromEntries(places.map((index) => [references[index], fixed[fields[index] as string]]));
  }

  /** The records that a relation leads to from some records of a model. */
  #around(model: string, name: string, { type, relation }: DataField, within: Filter): Filter | undefined {
    const fields = Object.entries(this.#database.dataModel.models[type]?.fields ?? {});
    const isBack = ([back, field]: [string, DataField]) =>
      field.type === model && field.relation?.name === relation?.name && !(type === model && back === name);
    const [back, field] = fields.find(isBack) ?? [];
    return back === undefined ? undefined : { [back]: field?.list ? { some: within } : within };
  }

  /** @param linked columns that a relation sets; undefined where rows have theirs already */
  #fix(model: string, row: Data, fixed: Data, linked: ReadonlySet<string> | undefined): void {
    for (const [column, value] of Object.entries(fixed)) {
      const given = written(row[column]);
      if (given === undefined) {
        if (linked && !linked.has(column)) row[column] = value;
      } else if (!same(given, value)) throw foreign(model, column);
    }
  }

  /** @throws ForbiddenException where a column is set that the scope of a model wants to be null */
  #expectNull(model: string, isSet: (column: string) => boolean): void {
    const column = columnsToStayNull(this.#database.dataModel, model, this.#query.filterOf(model)).find(isSet);
    if (column !== undefined) throw foreign(model, column);
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
    const target = this.#query.relation(model, name)?.type ?? '';
    const holdsKey = isKeyOfMany(this.#database.dataModel, model, name);
    if (words.set === undefined || !holdsKey || !this.#query.filterOf(target)) return words;
    throw new InternalServerErrorException(
      `The word set would take ${name} out of the caller's scope away from ${model}; name them by connect and disconnect.`,
    );
  }

  /** A filter of the records that a nested write is for; of one that looks through relations, which the ORM does not take there, their ids. */
  #among({ model, within }: Nested, asked: Filter): Filter {
    const own = this.#query.filterOf(model);
    if (!own || !this.#looksThrough(model, own)) return this.#query.where(model, asked) ?? {};
    const ids: unknown[] = [];
    this.lookups.push({ model, where: { AND: [asked, ...(within ? [within] : [])] }, ids });
    return { id: { in: ids } };
  }

  #looksThrough(model: string, filter: Filter): boolean {
    return Object.entries(filter).some(([name, value]) =>
      name === 'AND' || name === 'OR' || name === 'NOT'
        ? asList(value).some((part) => this.#looksThrough(model, part as Filter))
        : this.#query.relation(model, name) !== undefined,
    );
  }

  /** The nested writes of a relation. */
  #related(nested: Nested, words: Data): Data {
    const { model, many, fixedKey, within } = nested;
    const fixedFilter = Object.keys(fixedKey).length > 0 ? [fixedKey] : [];
    const unique = (one: unknown) => {
      const where = this.#query.unique(model, one as Filter);
      return fixedFilter.length > 0 ? { ...where, AND: [...asList(where.AND), ...fixedFilter] } : where;
    };
    const inside = (where: unknown): Filter => {
      const own = plainKey(this.#database.dataModel, model, (where ?? {}) as Filter);
      return within ? { AND: [own, within] } : own;
    };
    const each = (value: unknown, change: (one: Data) => unknown) =>
      Array.isArray(value) ? value.map((one) => change(one as Data)) : change(value as Data);
    const filter = (one: unknown) =>
      many ? unique(one) : this.#query.where(model, one === true ? {} : (one as Filter));
    const updated = (one: Data) => {
      const isWhole = 'data' in one;
      const data = this.rows(model, isWhole ? one.data : one, 'update', inside(isWhole ? one.where : undefined));
      return { data, where: filter(isWhole ? (one.where ?? {}) : {}) };
    };
    const created = (one: unknown) => this.rows(model, withKey(model, one, fixedKey), 'create');
    const among = (one: Data) => ({ ...one, where: this.#among(nested, (one.where ?? {}) as Filter) });
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
      deleteMany: (value) => each(value, (one) => this.#among(nested, one)),
      upsert: (value) =>
        each(value, (one) => ({
          where: filter(one.where ?? {}),
          create: created(one.create),
          update: this.rows(model, one.update, 'update', inside(one.where)),
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

/** A new row with what is fixed of it. @throws ForbiddenException where it has another value there */
function withKey(model: string, data: unknown, fixedKey: Data): unknown {
  if (Object.keys(fixedKey).length === 0) return data;
  for (const [column, value] of Object.entries(fixedKey)) {
    const given = (data as Data)[column];
    if (given !== undefined && !same(given, value)) throw foreign(model, column);
  }
  return { ...(data as Data), ...fixedKey };
}

function foreign(model: string, column: string): ForbiddenException {
  return new ForbiddenException(`The ${column} of this ${modelWords(model)} is not yours to choose; leave it out`, {
    fields: [column],
  });
}
