import type { QueryLimits } from '../policy/query-limits.ts';
import { type Path, Refusal, shorten } from './query-refusal.ts';

type Bounds = Pick<QueryLimits, 'json' | 'nesting' | 'keys' | 'in' | 'string'>;

// A copy of an object with such a key can change the prototype of the copy, or of everything.
const poisoned = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Parses the JSON text of a parameter within bounds. The length is checked before anything is parsed.
 * A key that stands twice in one object takes its last value, as JSON.parse has it.
 */
export function parseJson(text: unknown, bounds: Bounds): unknown {
  // A parameter that was repeated arrives as an array from parsers that allow it.
  if (typeof text !== 'string') throw new Refusal([], 'expected one text of JSON');
  if (text.length > bounds.json) {
    throw new Refusal([], `expected at most ${bounds.json} characters of JSON, got ${text.length}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The engine's own message quotes the input and changes with its version, so it is not passed on.
    throw new Refusal([], 'expected JSON, such as {"name":"value"}');
  }
  checkBounds(value, bounds);
  return value;
}

/** Refuses a value that is too deep, too large, or holds keys or strings that no database takes. */
export function checkBounds(value: unknown, bounds: Bounds): void {
  new BoundsCheck(bounds).visit(value, 1);
}

class BoundsCheck {
  readonly #bounds: Bounds;
  readonly #path: Path = [];
  #keys = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  visit(value: unknown, level: number): void {
    if (typeof value === 'string') this.#checkString(value);
    else if (typeof value === 'object' && value !== null && !(value instanceof Date)) this.#visitInside(value, level);
  }

  #visitInside(value: object, level: number): void {
    const { nesting } = this.#bounds;
    if (level > nesting) throw new Refusal([], `expected at most ${nesting} levels of nesting`);
    if (Array.isArray(value)) this.#visitItems(value, level);
    else this.#visitEntries(value as Record<string, unknown>, level);
  }

  #visitItems(items: unknown[], level: number): void {
    if (items.length > this.#bounds.in) {
      throw new Refusal(this.#path, `expected at most ${this.#bounds.in} items, got ${items.length}`);
    }
    for (let index = 0; index < items.length; index++) {
      this.#path.push(index);
      this.visit(items[index], level + 1);
      this.#path.pop();
    }
  }

  #visitEntries(value: Record<string, unknown>, level: number): void {
    for (const key of Object.keys(value)) {
      if (poisoned.has(key)) throw new Refusal(this.#path, `the key "${key}" is never allowed`);
      this.#checkString(key);
      this.#countKey();
      this.#path.push(key);
      this.visit(value[key], level + 1);
      this.#path.pop();
    }
  }

  #countKey(): void {
    this.#keys += 1;
    if (this.#keys > this.#bounds.keys) {
      throw new Refusal([], `expected at most ${this.#bounds.keys} keys in all; ask for less at once`);
    }
  }

  #checkString(text: string): void {
    const { string } = this.#bounds;
    if (text.length > string) {
      throw new Refusal(this.#path, `expected strings of at most ${string} characters, got ${text.length}`);
    }
    if (text.includes('\0')) throw new Refusal(this.#path, 'strings with a NUL character are not allowed');
    if (!text.isWellFormed())
      throw new Refusal(this.#path, `${JSON.stringify(shorten(text))} is not well-formed Unicode`);
  }
}

/** The value as an object with keys; anything else is refused at the path. */
export function expectObject(value: unknown, path: Path, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)) {
    return value as Record<string, unknown>;
  }
  throw new Refusal(path, `expected ${what}`);
}
