import { AnyNull } from '@prisma/client/runtime/client';

/**
 * The text that stands for all queries of one shape: two have the same if they differ in compared values and numbers
 * only. Names carry their length, so that no name that a client chose can be taken for the structure around it.
 */
export function shapeKey(value: unknown, literal = true): string {
  if (value === true) return 't';
  if (value === false) return 'f';
  if (value === null) return 'n';
  if (typeof value === 'string') return literal ? `${value.length}:${value}` : '?';
  if (typeof value !== 'object' || value instanceof Date) return value === undefined ? 'u' : '?';
  if (value === AnyNull) return 'a';
  const known = literal ? shapeKeys.get(value) : undefined;
  if (known !== undefined) return known;
  const key = shapeKeyInside(value, literal);
  if (literal && isFixed(value)) shapeKeys.set(value, key);
  return key;
}

/** Of what cannot change any more, such as the selection of a list policy. */
const shapeKeys = new WeakMap<object, string>();

function isFixed(value: object): boolean {
  return Object.isFrozen(value) && Object.values(value).every((inner) => typeof inner !== 'object');
}

function shapeKeyInside(value: object, literal: boolean): string {
  let key = '';
  if (Array.isArray(value)) {
    for (const item of value) key += shapeKey(item, literal);
    return `[${key}]`;
  }
  for (const name in value) {
    const inner = literal ? name !== 'where' : name === 'mode';
    key += `${name.length}:${name}${shapeKey((value as Record<string, unknown>)[name], inner)}`;
  }
  return `{${key}}`;
}
