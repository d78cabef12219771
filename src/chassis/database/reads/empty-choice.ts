import type { Filter } from '../../query/query-types.ts';
import type { DataModel } from '../models/data-model.ts';
import { asList, isEmptyChoice, isPlain } from './provider-filter.ts';

/** Types of columns that cannot be compared with a list of values. */
const incomparable: ReadonlySet<string> = new Set(['Json', 'Bytes', 'Unsupported']);

/** Whether a filter has a choice among none anywhere, such as `OR: teams.map(…)` of a caller without teams. */
export function hasEmptyChoice(filter: unknown): boolean {
  if (Array.isArray(filter)) return filter.some(hasEmptyChoice);
  if (!isPlain(filter)) return false;
  return Object.entries(filter).some(([name, value]) => isEmptyChoice(name, value) || hasEmptyChoice(value));
}

/**
 * The same filter with a condition that no record fits in the place of each choice among none. The ORM takes such a choice
 * for none only where nothing stands around it: beside another filter, or in that of one record, it passes over it, so that
 * the records of everybody fit.
 */
export function withoutEmptyChoice(models: DataModel['models'], model: string, filter: Filter): Filter {
  const fields = models[model]?.fields ?? {};
  const result: Filter = {};
  let isNone = false;
  for (const [name, value] of Object.entries(filter)) {
    const type = Object.hasOwn(fields, name) ? fields[name]?.type : undefined;
    // Behind a relation its model goes on, behind a word such as AND or some the same one.
    const target = type !== undefined && Object.hasOwn(models, type) ? type : model;
    const inside = (part: unknown) => (isPlain(part) ? withoutEmptyChoice(models, target, part) : part);
    if (isEmptyChoice(name, value)) isNone = true;
    else result[name] = Array.isArray(value) ? value.map(inside) : inside(value);
  }
  return isNone ? { ...result, AND: [...asList(result.AND), noneOf(models, model)] } : result;
}

/** The same filter as a branch of OR that counts also where it says nothing, which the ORM would pass over. */
export function said(models: DataModel['models'], model: string, filter: Filter): Filter {
  return { AND: [filter, { NOT: noneOf(models, model) }] };
}

/** A condition of one column that no record of a model fits. */
export function noneOf(models: DataModel['models'], model: string): Filter {
  const fields = Object.entries(models[model]?.fields ?? {});
  const isComparable = ([, { type, list }]: (typeof fields)[number]) =>
    !list && !Object.hasOwn(models, type) && !incomparable.has(type);
  const [name = 'id'] = fields.find(([field]) => field === 'id') ?? fields.find(isComparable) ?? [];
  return { [name]: { in: [] } };
}
