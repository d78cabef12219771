const headLength = 12;
const chunkHead = 8;
const kept = new Set(['VP8 ', 'VP8L', 'VP8X', 'ALPH', 'ANIM', 'ANMF', 'ICCP']);
/** Bits of VP8X that announce Exif and XMP. */
const announced = 0x08 | 0x04;

/** A WebP without Exif, XMP and chunks of others, and without what follows its end. */
export function stripWebp(image: Buffer): Buffer[] | undefined {
  const end = Math.min(image.length, chunkHead + image.readUInt32LE(4));
  const pieces: Buffer[] = [];
  let at = headLength;
  while (at + chunkHead <= end) {
    const size = image.readUInt32LE(at + 4);
    // Chunks begin at even places.
    const next = at + chunkHead + size + (size % 2);
    if (at + chunkHead + size > image.length) return undefined;
    const type = image.toString('latin1', at, at + 4);
    if (kept.has(type))
      pieces.push(type === 'VP8X' ? withoutFlags(image.subarray(at, next)) : image.subarray(at, next));
    at = next;
  }
  if (pieces.length === 0) return undefined;
  const head = Buffer.from(image.subarray(0, headLength));
  head.writeUInt32LE(4 + pieces.reduce((length, piece) => length + piece.length, 0), 4);
  return [head, ...pieces];
}

function withoutFlags(chunk: Buffer): Buffer {
  const copy = Buffer.from(chunk);
  if (copy.length > chunkHead) copy.writeUInt8(copy.readUInt8(chunkHead) & ~announced, chunkHead);
  return copy;
}
