import { AnyNull } from '@prisma/client/runtime/client';

/** What an object is: a query, what it asks of each field or relation, a filter, or an order. */
type Place = 'query' | 'fields' | 'filter' | 'order';
const placesInQuery: Readonly<Record<string, Place>> = { where: 'filter', select: 'fields', orderScopes: 'fields' };

/**
 * The text that stands for all queries of one shape: two have the same if they differ in compared values and numbers
 * only. Names carry their length, so that no name that a client chose can be taken for the structure around it, and mean
 * what their place says: a field may be called `where`.
 */
export function shapeKey(value: unknown, place: Place = 'query'): string {
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (value === null) return 'n';
  const literal = place !== 'filter';
  if (typeof value === 'string') return literal ? `${value.length}:${value}` : '?';
  if (typeof value !== 'object' || value instanceof Date) return value === undefined ? 'u' : '?';
  if (value === AnyNull) return 'a';
  const known = literal ? shapeKeys.get(value) : undefined;
  if (known !== undefined) return known;
  const key = shapeKeyInside(value as Record<string, unknown>, place);
  const isFlat = () => Object.values(value).every((inner) => typeof inner !== 'object');
  if (literal && Object.isFrozen(value) && isFlat()) shapeKeys.set(value, key);
  return key;
}

/** Of what cannot change any more, such as the selection of a list policy. */
const shapeKeys = new WeakMap<object, string>();

function shapeKeyInside(value: Record<string, unknown>, place: Place): string {
  if (Array.isArray(value)) return `[${value.map((item) => shapeKey(item, place)).join('')}]`;
  let key = '';
  for (const name in value) {
    let inner = place;
    if (place === 'query') inner = placesInQuery[name] ?? 'order';
    else if (place === 'fields') inner = 'query';
    else if (name === 'mode' && typeof value[name] === 'string') inner = 'order';
    key += `${name.length}:${name}${shapeKey(value[name], inner)}`;
  }
  return `{${key}}`;
}
