import { inspect } from 'node:util';
import { InternalServerErrorException } from '../../errors/exceptions.ts';
import type { Filter } from '../../query/query-types.ts';
import type { DataModel } from '../models/data-model.ts';
import { noneOf } from './empty-choice.ts';
import { asList, isEmptyChoice, isPlain, type TargetDatabase, toProviderFilter } from './provider-filter.ts';

/** A database whose models are known. */
interface KnownDatabase extends TargetDatabase {
  readonly dataModel: DataModel;
}

/**
 * A query of the ORM, whose comparisons mean the same on both databases as `toProviderFilter` says: in its own filter and
 * in those of what it selects. Json is compared as the ORM does it. The query given is left as it is.
 */
export function translateQuery(query: object, model: string, kind: KnownDatabase): Filter {
  const result: Filter = { ...query };
  if (isPlain(result.where)) result.where = translateFilter(result.where, model, kind);
  for (const part of ['select', 'include'] as const) {
    const parts = result[part];
    if (!isPlain(parts)) continue;
    const translated = Object.entries(parts).map(([name, inner]) => {
      const related = kind.dataModel.models[model]?.fields[name]?.type ?? model;
      return [name, isPlain(inner) ? translateQuery(inner, related, kind) : inner];
    });
    result[part] = Object.fromEntries(translated);
  }
  return result;
}

/**
 * Refuses a query whose filter is none, such as null: it would be taken for no filter at all, which means all records.
 *
 * @throws InternalServerErrorException
 */
export function expectFilter(query: object | undefined, operation: string): void {
  const { where } = (query ?? {}) as { where?: unknown };
  if (where === undefined || isPlain(where)) return;
  throw new InternalServerErrorException(`Expected an object as where of ${operation}, got ${inspect(where)}.`);
}

/** A name is a field, or a word such as AND, some and is, behind which the same model goes on. */
function translateFilter(filter: Filter, model: string, kind: KnownDatabase): Filter {
  const { models } = kind.dataModel;
  const fields = models[model]?.fields ?? {};
  const result: Filter = {};
  const besides: unknown[] = [];
  for (const [name, value] of Object.entries(filter)) {
    const type = Object.hasOwn(fields, name) ? fields[name]?.type : undefined;
    if (isEmptyChoice(name, value)) besides.push(noneOf(models, model));
    else if (Array.isArray(value) && type === undefined) {
      result[name] = value.map((branch) => (isPlain(branch) ? translateFilter(branch, model, kind) : branch));
    } else if (!isPlain(value) || type === 'Json') result[name] = value;
    else if (type === undefined || Object.hasOwn(models, type)) {
      result[name] = translateFilter(value, type ?? model, kind);
    } else {
      const { AND, ...own } = toProviderFilter({ [name]: value }, kind);
      Object.assign(result, own);
      besides.push(...asList(AND));
    }
  }
  if (besides.length > 0) result.AND = [...asList(result.AND), ...besides];
  return result;
}
