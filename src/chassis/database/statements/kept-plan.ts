import type { Filter, Order } from '../../query/query-types.ts';
import type { DataModel } from '../models/data-model.ts';
import { isPlain } from '../reads/provider-filter.ts';

/**
 * Numbers of first records that pages are within. PostgreSQL takes LIMIT and OFFSET that it is given as values for a tenth of
 * all records each, so no plan without the values seems good, and each page is planned anew, which costs as much as reading
 * it. A page within a number that stands in the statement has a plan that is kept; for deeper ones planning is the smaller part.
 */
export const windows = [64, 256, 1024] as const;

interface Page {
  readonly where?: Filter;
  readonly orderBy?: Order;
}

/** How a filter asks for a field: for one value, or for all between two. */
type Asked = 'value' | 'range';

/**
 * Whether one plan is the best for all values that a shape of page can have, so that it may be kept: an index gives the
 * records of the filter in the order asked for, however many they are, or there is nothing to choose by, because the filter
 * asks for nothing but a part of the order. Everything else is planned by its values, which may be rare or common.
 */
export function hasOnePlan({ models }: DataModel, model: string, { where = {}, orderBy = [] }: Page): boolean {
  const { fields = {}, indexes = [] } = models[model] ?? {};
  const [[first = '', direction] = []] = orderBy.map((term) => Object.entries(term)[0] ?? []);
  const asked = new Map<string, Asked>();
  if (typeof direction !== 'string' || !collect(where, asked)) return false;
  const isPlainField = (name: string) => fields[name]?.relation === undefined && fields[name]?.type !== 'Json';
  if (![...asked.keys()].every(isPlainField)) return false;
  const values = [...asked].filter(([, kind]) => kind === 'value').map(([name]) => name);
  const ranges = [...asked].filter(([, kind]) => kind === 'range').map(([name]) => name);
  if (ranges.some((name) => name !== first) || values.includes(first)) return false;
  if (values.length === 0) return true;
  return indexes.some((index) => {
    const leading = index.slice(0, values.length);
    return values.every((name) => leading.includes(name)) && index[values.length] === first;
  });
}

const rangeOperators: ReadonlySet<string> = new Set(['gt', 'gte', 'lt', 'lte']);

/** Adds what a filter asks of each field; false where it asks for more than a value or a range of fields, all at once. */
function collect(filter: Filter, asked: Map<string, Asked>): boolean {
  return everyCondition(filter, (name, value) => {
    const kind = kindOf(value);
    if (kind === undefined || (asked.has(name) && asked.get(name) !== kind)) return false;
    asked.set(name, kind);
    return true;
  });
}

/** Whether a filter asks for certain values only, of which an index finds few records. */
export function isLookup(filter: Filter = {}): boolean {
  const isEquality = (_name: string, value: unknown) =>
    !isPlain(value) || Object.keys(value).every((operator) => operator === 'equals');
  return everyCondition(filter, isEquality);
}

/** Whether a filter is nothing but conditions on fields that all hold at once, each of which meets `meets`. */
function everyCondition(filter: Filter, meets: (name: string, value: unknown) => boolean): boolean {
  return Object.entries(filter).every(([name, value]) => {
    if (name === 'OR' || name === 'NOT') return false;
    if (name === 'AND') return [value].flat().every((part) => everyCondition(part as Filter, meets));
    return meets(name, value);
  });
}

function kindOf(value: unknown): Asked | undefined {
  if (value === null || value === undefined) return undefined;
  if (!isPlain(value)) return 'value';
  const operators = Object.keys(value);
  if (operators.length === 1 && operators[0] === 'equals') return value.equals === null ? undefined : 'value';
  return operators.length > 0 && operators.every((operator) => rangeOperators.has(operator)) ? 'range' : undefined;
}
