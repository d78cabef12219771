import type { Filter } from '../../query/query-types.ts';
import type { DataModel } from '../models/data-model.ts';
import { asList, isPlain } from '../reads/provider-filter.ts';
import { nullColumns, written } from './fixed-columns.ts';

type Data = Record<string, unknown>;

/** A record that a write refers to by its key. */
export interface Reference {
  /** The model that refers, and by which of its fields. */
  readonly from: string;
  readonly fields: readonly string[];
  readonly model: string;
  readonly key: Filter;
}

/** A relation of a model that holds its key: the columns here, and what they refer to. */
export interface KeyRelation {
  readonly name: string;
  readonly fields: readonly string[];
  readonly references: readonly string[];
}

/** The relations whose keys are columns of a model. */
export function keyRelations({ models }: DataModel, model: string): KeyRelation[] {
  return Object.entries(models[model]?.fields ?? {}).flatMap(([name, { relation }]) => {
    const { fields, references } = relation ?? {};
    return fields && references ? [{ name, fields, references }] : [];
  });
}

/**
 * Says keys among some columns by their relations where data names another relation by a word: the ORM takes columns that
 * are keys, or relations, and not both. Changes the data given.
 */
export function sayByRelations(relations: readonly KeyRelation[], data: Data, columns: ReadonlySet<string>): void {
  if (!relations.some(({ name }) => data[name] !== undefined)) return;
  for (const { name, fields, references } of relations) {
    const isGiven = fields.every((field) => data[field] !== undefined && data[field] !== null);
    if (data[name] !== undefined || !isGiven || !fields.some((field) => columns.has(field))) continue;
    const key = Object.fromEntries(references.map((reference, index) => [reference, data[fields[index] as string]]));
    data[name] = { connect: references.length === 1 ? key : { [references.join('_')]: key } };
    for (const field of fields) delete data[field];
  }
}

/** Whether a word sets the key of a relation. */
export function isLinking(word: string): boolean {
  return word !== 'update';
}

/** Words of a nested write that give a row the key of another. */
const links: ReadonlySet<string> = new Set(['connect', 'connectOrCreate', 'create', 'createMany', 'set', 'upsert']);

/** Whether what is said of a relation gives a row the key of another. */
export function givesKey(words: unknown): boolean {
  return isPlain(words) && Object.keys(words).some((word) => words[word] !== undefined && links.has(word));
}

/**
 * Whether a row is given a value for a column, by itself or by a relation. Moments are left out: one that a scope wants to be
 * null, such as that of an end, is there to be set.
 */
export function setsColumn(dataModel: DataModel, model: string, column: string, row: Data): boolean {
  const { type = '' } = dataModel.models[model]?.fields[column] ?? {};
  if (type === 'DateTime') return false;
  if (Object.hasOwn(dataModel.models, type)) return givesKey(row[column]);
  if ((written(row[column]) ?? null) !== null) return true;
  return keyRelations(dataModel, model).some(({ name, fields }) => fields.includes(column) && givesKey(row[name]));
}

/** The columns that a scope wants to be null, also where it says so of a relation. */
export function columnsToStayNull({ models }: DataModel, model: string, scope: Filter | undefined): string[] {
  return nullColumns(scope).flatMap((name) => models[model]?.fields[name]?.relation?.fields ?? [name]);
}

/** The columns in which the records that a relation leads to hold its key; none where the rows of the model do. */
export function columnsBehind(dataModel: DataModel, model: string, name: string): readonly string[] {
  const { type = '', relation } = dataModel.models[model]?.fields[name] ?? {};
  const target = dataModel.models[type]?.fields ?? {};
  const isBack = ({ name: back }: KeyRelation) =>
    target[back]?.type === model &&
    target[back].relation?.name === relation?.name &&
    !(type === model && back === name);
  return keyRelations(dataModel, type).find(isBack)?.fields ?? [];
}

/** A filter by a unique key in the form of any other: the columns of a key of several stand below its name. */
export function plainKey({ models }: DataModel, model: string, where: Filter): Filter {
  const fields = models[model]?.fields ?? {};
  const isName = (name: string) => !Object.hasOwn(fields, name) && name !== 'AND' && name !== 'OR' && name !== 'NOT';
  const entries = Object.entries(where).flatMap(([name, value]) =>
    isPlain(value) && isName(name) ? Object.entries(value) : [[name, value]],
  );
  return Object.fromEntries(entries);
}

/** Whether a relation leads to many records, of which each holds the key. */
export function isKeyOfMany({ models }: DataModel, model: string, name: string): boolean {
  const { type = '', list, relation } = models[model]?.fields[name] ?? {};
  const fields = Object.values(models[type]?.fields ?? {});
  return (
    list === true &&
    fields.some((field) => field.type === model && field.relation?.name === relation?.name && field.relation?.fields)
  );
}

/** The records that `set` names in the data of an update, where they hold the key: of one that is not there the ORM says nothing. */
export function recordsSet(dataModel: DataModel, model: string, data: unknown): Reference[] {
  if (!isPlain(data)) return [];
  return Object.entries(data).flatMap(([name, words]) => {
    const type = dataModel.models[model]?.fields[name]?.type ?? '';
    if (!Object.hasOwn(dataModel.models, type) || !isPlain(words)) return [];
    const keys = isKeyOfMany(dataModel, model, name) ? (asList(words.set) as Filter[]) : [];
    const own = keys.map((key) => ({ from: model, fields: [name], model: type, key: plainKey(dataModel, type, key) }));
    const updated = (asList(words.update) as Filter[]).map((one) => one.data ?? one);
    const below = [...updated, ...(asList(words.upsert) as Filter[]).map((one) => one.update)];
    return [...own, ...below.flatMap((inner) => recordsSet(dataModel, type, inner))];
  });
}
