/** A message of protobuf as its wire format has it: the values of each field by number, in order. */
export class Message {
  readonly #fields = new Map<number, (Buffer | bigint)[]>();

  constructor(bytes: Buffer) {
    for (let at = 0; at < bytes.length; ) {
      const [tag, afterTag] = varint(bytes, at);
      const [value, end] = valueAt(bytes, afterTag, Number(tag & 7n));
      const field = Number(tag >> 3n);
      this.#fields.set(field, [...(this.#fields.get(field) ?? []), value]);
      at = end;
    }
  }

  /** The messages that a field holds. */
  all(field: number): Message[] {
    return (this.#fields.get(field) ?? []).map((value) => new Message(value as Buffer));
  }

  bytes(field: number): Buffer {
    return (this.#fields.get(field)?.at(-1) as Buffer | undefined) ?? Buffer.alloc(0);
  }

  text(field: number): string {
    return this.bytes(field).toString();
  }

  has(field: number): boolean {
    return this.#fields.has(field);
  }
}

function valueAt(bytes: Buffer, at: number, wireType: number): [Buffer | bigint, end: number] {
  if (wireType === 0) return varint(bytes, at);
  if (wireType === 1) return [bytes.subarray(at, at + 8), at + 8];
  if (wireType === 5) return [bytes.subarray(at, at + 4), at + 4];
  if (wireType !== 2) throw new Error(`Expected a wire type of protobuf, found ${wireType}`);
  const [length, start] = varint(bytes, at);
  const end = start + Number(length);
  if (end > bytes.length) throw new Error(`Expected ${length} bytes of a field, found ${bytes.length - start}`);
  return [bytes.subarray(start, end), end];
}

function varint(bytes: Buffer, from: number): [value: bigint, end: number] {
  let value = 0n;
  for (let at = from, shift = 0n; at < bytes.length; at += 1, shift += 7n) {
    const byte = bytes[at] as number;
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return [value, at + 1];
  }
  throw new Error('Expected a number, found the end of the message');
}
