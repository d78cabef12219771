import { BadRequestException } from '../errors/exceptions.ts';

const maximumDepth = 50;

/**
 * Refuses parsed JSON that could harm code that copies or walks it: a key `__proto__`, a key `prototype` inside
 * `constructor`, or more than 50 levels.
 *
 * @throws BadRequestException
 */
export function refuseUnsafeJson(value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth === maximumDepth) {
    throw new BadRequestException(`The request body nests deeper than ${maximumDepth} levels`);
  }
  if (Array.isArray(value)) {
    for (const item of value) refuseUnsafeJson(item, depth + 1);
    return;
  }
  for (const key of Object.keys(value)) {
    const inner = (value as Record<string, unknown>)[key];
    if (key === '__proto__' || (key === 'constructor' && hasPrototypeKey(inner))) {
      throw new BadRequestException(`The request body holds the key "${key}", which is refused`);
    }
    refuseUnsafeJson(inner, depth + 1);
  }
}

function hasPrototypeKey(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
}
