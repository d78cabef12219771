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
