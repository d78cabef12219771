/** A part of an output: bytes of which those between `from` and `to` are still to be written. */
export class OutputPiece {
  readonly bytes: Buffer;
  from = 0;
  to = 0;

  /** @param length of the buffer, in bytes */
  constructor(length: number) {
    this.bytes = Buffer.allocUnsafeSlow(length);
  }

  get isEmpty(): boolean {
    return this.from === this.to;
  }

  /** Whether it takes so many more bytes. */
  hasRoomFor(length: number): boolean {
    return this.bytes.length - this.to >= length;
  }

  /** Puts a text at its end, for which there must be room, and gives the length in bytes. */
  add(text: string): number {
    const length = this.bytes.write(text, this.to);
    this.to += length;
    return length;
  }
}
