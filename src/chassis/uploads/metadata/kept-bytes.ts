/** Copying as much byte by byte takes less time than a call into the engine. */
const shortPart = 32;
/** More than anything that is written into an image in the place of its metadata. */
const room = 64;

/** A type of chunks as a number, which is compared in less time than a text. */
export function typeCode(type: string): number {
  return Buffer.from(type, 'latin1').readUInt32BE();
}

/**
 * How many bytes of data a chunk has at most that is shown, by its type as a number: more would be about something else.
 *
 * @param unbounded types that have any number of them
 * @param bounded the largest number, by type
 */
export function shownLengths(unbounded: readonly string[], bounded: Record<string, number>): [number, number][] {
  const lengths = [...Object.entries(bounded), ...unbounded.map((type) => [type, Number.POSITIVE_INFINITY] as const)];
  return lengths.map(([type, length]) => [typeCode(type), length]);
}

/**
 * Whether these bytes stand at a place. An image may have half a million segments, and a view of each, to be compared by the
 * engine, takes ten times as long.
 */
export function standsAt(bytes: Buffer, image: Buffer, at: number): boolean {
  for (let index = 0; index < bytes.length; index += 1) if (image[at + index] !== bytes[index]) return false;
  return true;
}

/**
 * What is left of an image, copied together. However many parts it has, and it may have one for each three bytes, they take
 * no more memory than the image, and parts that lie side by side are copied as one.
 */
export class KeptBytes {
  readonly #image: Buffer;
  readonly #kept: Buffer;
  #length = 0;
  #from = 0;
  #to = 0;

  constructor(image: Buffer) {
    this.#image = image;
    this.#kept = Buffer.allocUnsafeSlow(image.length + room);
  }

  /** How many bytes are kept so far. */
  get length(): number {
    return this.#length + this.#to - this.#from;
  }

  /** Keeps a part of the image, which lies behind those before. */
  keep(from: number, to: number): void {
    if (from !== this.#to) {
      this.#copy();
      this.#from = from;
    }
    this.#to = Math.min(to, this.#image.length);
  }

  /** Adds bytes that the image does not have; of all together at most 64. */
  add(bytes: Buffer): void {
    this.#copy();
    this.#length += bytes.copy(this.#kept, this.#length);
  }

  /** What is kept so far, which may be changed. */
  get bytes(): Buffer {
    this.#copy();
    return this.#kept.subarray(0, this.#length);
  }

  #copy(): void {
    const image = this.#image;
    const kept = this.#kept;
    if (this.#to - this.#from > shortPart) this.#length += image.copy(kept, this.#length, this.#from, this.#to);
    else for (let at = this.#from; at < this.#to; at += 1) kept[this.#length++] = image[at] as number;
    this.#from = this.#to;
  }
}
