import { BadRequestException, ValidationException } from '../../errors/exceptions.ts';

const maximumDepth = 50;
/** What an answer names of where a text stands, in characters: a name may be as long as a body. */
const maximumName = 200;

/**
 * Refuses parsed JSON that could harm code that copies or walks it: a key `__proto__`, a key `prototype` inside
 * `constructor`, or more than 50 levels; and text that no database stores as it is: with a NUL character, or half of a
 * surrogate pair.
 *
 * @throws BadRequestException, for text a ValidationException that names its field
 */
export function refuseUnsafeJson(value: unknown, path: (string | number)[] = []): void {
  if (typeof value === 'string') refuseUnstorableText(value, path);
  if (typeof value !== 'object' || value === null) return;
  const depth = path.length;
  if (depth === maximumDepth) {
    throw new BadRequestException(`The request body nests deeper than ${maximumDepth} levels`);
  }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) refuseInner(value[index], index, path);
    return;
  }
  for (const key of Object.keys(value)) {
    const inner = (value as Record<string, unknown>)[key];
    if (key === '__proto__' || (key === 'constructor' && hasPrototypeKey(inner))) {
      throw new BadRequestException(`The request body holds the key "${key}", which is refused`);
    }
    refuseInner(inner, key, path);
  }
}

/** One path serves the whole walk, since most bodies hold nothing to refuse. */
function refuseInner(value: unknown, key: string | number, path: (string | number)[]): void {
  path.push(key);
  refuseUnsafeJson(value, path);
  path.pop();
}

function refuseUnstorableText(text: string, path: readonly (string | number)[]): void {
  if (text.isWellFormed() && !text.includes('\0')) return;
  const place = path.join('.').slice(0, maximumName) || 'body';
  throw new ValidationException({ [place]: ['Holds a NUL character or half of a character'] });
}

function hasPrototypeKey(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
}
