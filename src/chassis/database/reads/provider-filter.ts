import { BadRequestException } from '../../errors/exceptions.ts';
import type { Filter, Selection } from '../../query/query-types.ts';
import type { DatabaseProvider } from '../client/database-url.ts';
import { likeMarkers, likeText } from '../sqlite/sqlite-like.ts';

type TextOperator = 'contains' | 'startsWith' | 'endsWith';
type Mode = 'insensitive' | 'default' | undefined;

/**
 * Makes a neutral filter mean the same on both databases: text operators take `%`, `_` and `\` literally, and compare
 * the case of letters unless `mode` is 'insensitive', which then also holds for `equals`, `not`, `in` and `notIn`
 * (spec.md: SearchOptions). On SQLite case is folded for ASCII letters only. No field may be called like an operator. The
 * filter given is left as it is. Raises BadRequestException for a text with a NUL character, which no database can hold.
 */
export function toProviderFilter(filter: Filter, provider: DatabaseProvider): Filter {
  const result: Filter = {};
  const besides: Filter[] = [];
  for (const [key, value] of Object.entries(filter)) {
    if (Array.isArray(value))
      result[key] = value.map((item) => (isPlain(item) ? toProviderFilter(item, provider) : item));
    else if (!isPlain(value)) result[key] = value;
    else if (isTextFilter(value)) addTextFilter(key, value, provider, result, besides);
    else result[key] = toProviderFilter(value, provider);
  }
  if (besides.length > 0) result.AND = [...asList(result.AND), ...besides];
  return result;
}

/** The same for the filters inside a `select` or `include`. */
export function toProviderSelection(selection: Selection, provider: DatabaseProvider): Filter {
  const result: Filter = {};
  for (const [key, value] of Object.entries(selection)) {
    result[key] = isPlain(value) ? selectionArguments(value, provider) : value;
  }
  return result;
}

function selectionArguments(relation: Filter, provider: DatabaseProvider): Filter {
  const { where, select, include, ...rest } = relation;
  return {
    ...rest,
    ...(isPlain(where) && { where: toProviderFilter(where, provider) }),
    ...(isPlain(select) && { select: toProviderSelection(select, provider) }),
    ...(isPlain(include) && { include: toProviderSelection(include, provider) }),
  };
}

/** Adds one field's conditions: those that Prisma can say of the field itself, and those that need a list beside it. */
function addTextFilter(
  field: string,
  filter: Filter,
  provider: DatabaseProvider,
  result: Filter,
  besides: Filter[],
): void {
  const mode = filter.mode as Mode;
  const insensitive = mode === 'insensitive';
  const conditions: Filter = insensitive && provider === 'postgresql' ? { mode } : {};
  for (const [operator, value] of Object.entries(filter)) {
    if (operator === 'mode' || value === undefined) continue;
    if (insensitive && (operator === 'in' || operator === 'notIn') && Array.isArray(value) && value.length > 0) {
      const each = value.map((item) => ({ [field]: equalsInsensitive(item, provider) }));
      besides.push(operator === 'in' ? { OR: each } : { NOT: { OR: each } });
    } else if (operator === 'not' && isPlain(value)) {
      besides.push({ NOT: toProviderFilter({ [field]: { ...(mode && { mode }), ...value } }, provider) });
    } else if (operator === 'not' && insensitive && typeof value === 'string') {
      besides.push({ NOT: { [field]: equalsInsensitive(value, provider) } });
    } else if (operator === 'equals' && insensitive && typeof value === 'string') {
      besides.push({ [field]: equalsInsensitive(value, provider) });
    } else {
      conditions[operator] = isTextOperator(operator) ? textOf(operator, value, insensitive, provider) : value;
    }
  }
  const hasConditions = Object.keys(conditions).some((key) => key !== 'mode');
  if (hasConditions) result[field] = conditions;
}

function equalsInsensitive(value: unknown, provider: DatabaseProvider): unknown {
  if (typeof value !== 'string') return value;
  return provider === 'postgresql'
    ? { equals: likeText(value), mode: 'insensitive' }
    : { startsWith: likeMarkers.insensitiveEquals + value };
}

const insensitiveMarkers: Record<TextOperator, string> = {
  contains: likeMarkers.insensitiveContains,
  startsWith: likeMarkers.insensitiveStartsWith,
  endsWith: likeMarkers.insensitiveEndsWith,
};

function textOf(operator: TextOperator, value: unknown, insensitive: boolean, provider: DatabaseProvider): unknown {
  if (typeof value !== 'string') return value;
  // PostgreSQL stores no NUL and refuses it; SQLite would take it for the end of the pattern.
  if (value.includes('\0')) throw new BadRequestException('Invalid request data');
  if (provider === 'postgresql') return likeText(value);
  return (insensitive ? insensitiveMarkers : likeMarkers)[operator] + value;
}

function isTextOperator(operator: string): operator is TextOperator {
  return operator === 'contains' || operator === 'startsWith' || operator === 'endsWith';
}

function isTextFilter(value: Filter): boolean {
  return 'mode' in value || 'contains' in value || 'startsWith' in value || 'endsWith' in value || isPlain(value.not);
}

function isPlain(value: unknown): value is Filter {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function asList(value: unknown): unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
