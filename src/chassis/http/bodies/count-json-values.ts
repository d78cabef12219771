import { randomInt } from 'node:crypto';
import { PayloadTooLargeException } from '../../errors/exceptions.ts';

/** Values and names in one body at most; a thousand records of 24 fields have as many. */
const mostValues = 50_000;

/** Different names in one body at most; each that is new costs the parser 40 times what one costs that it has met. */
const mostNames = 2_000;
/** A shorter text, in characters, holds no more different names. */
const textOfNames = 12_000;

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const bracket = 0x5b;
const brace = 0x7b;
const closingBrace = 0x7d;

/** Of this process, so that nobody knows which names have the same hash. */
const hashFactor = randomInt(2 ** 24, 2 ** 31) | 1;

/** What of a text of JSON takes time to be parsed, beside its characters. */
interface JsonCounts {
  /** Values and names. */
  readonly values: number;
  /**
   * Names in objects of which none before has the same names in the same order, in a long text: the engine keeps a shape for each,
   * which takes it ten times as long as a name that it has met there.
   */
  readonly shaping: number;
}

/**
 * What a text of JSON holds, before it is parsed: a megabyte of empty lists, which is sent as two kilobytes of gzip, takes a
 * fifth of a second and 30 MB to be parsed, and 25,000 different names take half of that.
 *
 * @throws PayloadTooLargeException for more than 50,000 values and names, and for more than 2,000 different names
 */
export function countJsonValues(text: string): JsonCounts {
  const names = text.length > textOfNames ? new NameCount() : undefined;
  let values = 0;
  let start = 0;
  let end = 0;
  for (let index = 0; index < text.length; index += 1) {
    const sign = text.charCodeAt(index);
    if (sign === quote) {
      start = index + 1;
      end = endOfText(text, start);
      index = end;
    } else if (sign === comma || sign === colon || sign === bracket || sign === brace) {
      values += 1;
      if (values > mostValues) throw tooMuch(`${mostValues} values`);
      if (sign === brace) names?.open();
      // The text before a colon is a name.
      if (sign === colon) {
        names?.add(hashOf(text, start, end));
        // Of one that stands before many colons, which is no JSON, too.
        start = end;
      }
    } else if (sign === closingBrace) names?.close();
  }
  if (names && names.different > mostNames) throw tooMuch(`${mostNames} different names`);
  return { values, shaping: names?.shaping ?? 0 };
}

/** Counts the names of objects, by their hashes. */
class NameCount {
  shaping = 0;
  readonly #names = new Set<number>();
  readonly #shapes = new Set<number>();
  /** Shape and names so far of the objects around the one that is open. */
  readonly #around: number[] = [];
  #shape = 0;
  #count = 0;

  get different(): number {
    return this.#names.size;
  }

  open(): void {
    this.#around.push(this.#shape, this.#count);
    this.#shape = 0;
    this.#count = 0;
  }

  add(name: number): void {
    this.#names.add(name);
    this.#shape = mixed(this.#shape, name);
    this.#count += 1;
  }

  close(): void {
    if (this.#around.length === 0) return;
    if (!this.#shapes.has(this.#shape)) {
      this.#shapes.add(this.#shape);
      this.shaping += this.#count;
    }
    this.#count = this.#around.pop() ?? 0;
    this.#shape = this.#around.pop() ?? 0;
  }
}

/** Where the quote stands that ends a text: the first before which backslashes stand in pairs. */
function endOfText(text: string, start: number): number {
  let end = text.indexOf('"', start);
  while (end !== -1) {
    let escapes = 0;
    while (end - escapes > start && text.charCodeAt(end - escapes - 1) === backslash) escapes += 1;
    if (escapes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}

function hashOf(text: string, start: number, end: number): number {
  let hash = 0;
  for (let index = start; index < end; index += 1) hash = mixed(hash, text.charCodeAt(index));
  return hash;
}

function mixed(hash: number, next: number): number {
  const product = Math.imul(hash ^ next, hashFactor);
  // Without its upper half in its lower one, names of few different characters share hashes.
  return product ^ (product >>> 15);
}

function tooMuch(bound: string): PayloadTooLargeException {
  return new PayloadTooLargeException(`The request body holds more than ${bound}; send several requests`);
}
