import { BadRequestException } from '../../errors/exceptions.ts';
import { type Comparison, operatorNamed } from '../../query/operators.ts';
import { EnumBeyond } from '../../query/paging/keyset.ts';
import { JsonComparison } from '../../query/parse/json-comparison.ts';
import type { Filter } from '../../query/query-types.ts';
import type { DatabaseProvider } from '../client/database-url.ts';
import { type DataModel, enumValuesAt } from '../models/data-model.ts';
import { jsonFilter } from './json-filter.ts';

/** The database that a filter is for; without its models, no field of it is taken for an enum. */
export interface TargetDatabase {
  readonly provider: DatabaseProvider;
  readonly dataModel?: DataModel;
}

/**
 * Makes a neutral filter mean the same on both databases: text operators take `%`, `_` and `\` literally, and compare
 * the case of letters unless `mode` is 'insensitive', which then also holds for `equals`, `not`, `in` and `notIn`
 * (spec.md: SearchOptions). On SQLite case is folded for ASCII letters only. A choice among none holds for no record,
 * whatever stands around it. No field may be called like an operator. The filter given is left as it is.
 *
 * @throws BadRequestException when a text has a NUL character, which no database can hold
 */
export function toProviderFilter(filter: Filter, kind: TargetDatabase): Filter {
  const result: Filter = {};
  const besides: Filter[] = [];
  for (const [key, value] of Object.entries(filter)) {
    if (isJson(value)) besides.push(...value.map((comparison) => jsonFilter(key, comparison, kind.provider)));
    else if (isEmptyChoice(key, value)) besides.push({ id: { in: [] } });
    else if (Array.isArray(value))
      result[key] = value.map((item) => (isPlain(item) ? toProviderFilter(item, kind) : item));
    else if (value instanceof EnumBeyond) result[key] = beyondInOrder(value, kind);
    else if (!isPlain(value)) result[key] = value;
    else if (isComparison(value)) addComparison(key, value, kind, result, besides);
    else result[key] = toProviderFilter(value, kind);
  }
  if (besides.length > 0) result.AND = [...asList(result.AND), ...besides];
  return result;
}

/**
 * A neutral filter in the ORM's words, whose texts are not translated yet: the ORM's client does that with all that it is
 * asked, and would not know the comparisons that only the chassis has.
 */
function toOrmFilter(filter: Filter, kind: TargetDatabase): Filter {
  const result: Filter = {};
  const besides: Filter[] = [];
  for (const [key, value] of Object.entries(filter)) {
    if (isJson(value)) besides.push(...value.map((comparison) => jsonFilter(key, comparison, kind.provider)));
    else if (Array.isArray(value)) result[key] = value.map((item) => (isPlain(item) ? toOrmFilter(item, kind) : item));
    else if (value instanceof EnumBeyond) result[key] = beyondInOrder(value, kind);
    else result[key] = isPlain(value) ? toOrmFilter(value, kind) : value;
  }
  if (besides.length > 0) result.AND = [...asList(result.AND), ...besides];
  return result;
}

/** `toProviderFilter` of all filters of a query: its own, those of what it selects, and the scopes of what it is sorted by. */
export function toProviderQuery(query: object, kind: TargetDatabase, translate = toProviderFilter): Filter {
  const result: Filter = { ...query };
  if (isPlain(result.where)) result.where = translate(result.where, kind);
  for (const part of ['select', 'include', 'orderScopes'] as const) {
    const parts = result[part];
    // Columns alone have nothing to translate.
    if (!isPlain(parts) || !Object.values(parts).some(isPlain)) continue;
    const translated = Object.entries(parts).map(([name, inner]) => [
      name,
      isPlain(inner) ? toProviderQuery(inner, kind, translate) : inner,
    ]);
    result[part] = Object.fromEntries(translated);
  }
  return result;
}

/** A query with neutral filters, as the ORM's client takes it. */
export function toOrmQuery<Q extends object>(query: Q, kind: TargetDatabase): Q {
  return toProviderQuery(query, kind, toOrmFilter) as Q;
}

/** Adds one field's conditions: those that the ORM can say of the field itself, and those that need a list beside it. */
function addComparison(
  field: string,
  { mode, ...compared }: Filter,
  kind: TargetDatabase,
  result: Filter,
  besides: Filter[],
): void {
  const own: Filter = {};
  for (const [name, operand] of Object.entries(compared)) {
    if (operand === undefined) continue;
    if (name === 'not' && isPlain(operand)) {
      besides.push({
        NOT: toProviderFilter({ [field]: { ...(mode !== undefined && { mode }), ...operand } }, kind),
      });
      continue;
    }
    const translated = translate(name, { field, operand, insensitive: mode === 'insensitive' }, kind);
    const condition = translated[field];
    // Conditions of one field share one `mode` and have each operator once.
    const joins = isPlain(condition) && !('mode' in condition) && !Object.keys(condition).some((key) => key in own);
    if (joins) Object.assign(own, condition);
    else besides.push(translated);
  }
  if (Object.keys(own).length > 0) result[field] = own;
}

function translate(name: string, comparison: Comparison, kind: TargetDatabase): Filter {
  const { field, operand } = comparison;
  // PostgreSQL stores no NUL and refuses it; SQLite would take it for the end of the pattern.
  if (typeof operand === 'string' && operand.includes('\0')) throw new BadRequestException('Invalid request data');
  const operator = operatorNamed(name);
  return operator ? operator.translation[kind.provider](comparison) : { [field]: { [name]: operand } };
}

function isComparison(value: Filter): boolean {
  return 'mode' in value || Object.keys(value).some((name) => operatorNamed(name) !== undefined);
}

function isJson(value: unknown): value is JsonComparison[] {
  return Array.isArray(value) && value[0] instanceof JsonComparison;
}

/** Whether a condition is a choice among none, which the ORM takes for one only where nothing stands around it. */
export function isEmptyChoice(name: string, value: unknown): boolean {
  return name === 'OR' && Array.isArray(value) && value.length === 0;
}

/** Whether a value is an object of names and values: no list, no Date, no Decimal. */
export function isPlain(value: unknown): value is Filter {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Of an enum the database compares no sizes, so the values beyond are named; its column may also be a text. */
function beyondInOrder({ model, path, value, direction }: EnumBeyond, { dataModel }: TargetDatabase): unknown {
  const declared = dataModel && enumValuesAt(dataModel, model, path);
  if (!declared) return { [direction === 'asc' ? 'gt' : 'lt']: value };
  const place = declared.indexOf(value);
  return { in: direction === 'asc' ? declared.slice(place + 1) : declared.slice(0, place) };
}

/** The branches of AND, OR or NOT, which may be one, several or none. */
export function asList(value: unknown): unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
