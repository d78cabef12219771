import { orientationDirectory, tiffOrientation } from './exif-orientation.ts';

const headLength = 12;
const chunkHead = 8;
const kept = new Set(['VP8 ', 'VP8L', 'VP8X', 'ALPH', 'ANIM', 'ANMF', 'ICCP']);
/** Bits of VP8X that announce Exif, and Exif and XMP. */
const exif = 0x08;
const announced = exif | 0x04;
const upright = 1;

/** A WebP without Exif but for the orientation, XMP and chunks of others, and without what follows its end. */
export function stripWebp(image: Buffer): Buffer[] | undefined {
  const end = Math.min(image.length, chunkHead + image.readUInt32LE(4));
  const pieces: Buffer[] = [];
  let orientation = upright;
  let at = headLength;
  while (at + chunkHead <= end) {
    const size = image.readUInt32LE(at + 4);
    // Chunks begin at even places.
    const next = at + chunkHead + size + (size % 2);
    if (at + chunkHead + size > image.length) return undefined;
    const type = image.toString('latin1', at, at + 4);
    if (kept.has(type))
      pieces.push(type === 'VP8X' ? withoutFlags(image.subarray(at, next)) : image.subarray(at, next));
    if (type === 'EXIF')
      orientation = tiffOrientation(image.subarray(at + chunkHead, at + chunkHead + size)) ?? upright;
    at = next;
  }
  if (pieces.length === 0) return undefined;
  if (orientation !== upright) addOrientation(pieces, orientation);
  const head = Buffer.from(image.subarray(0, headLength));
  head.writeUInt32LE(4 + pieces.reduce((length, piece) => length + piece.length, 0), 4);
  return [head, ...pieces];
}

function withoutFlags(chunk: Buffer): Buffer {
  const copy = Buffer.from(chunk);
  if (copy.length > chunkHead) copy.writeUInt8(copy.readUInt8(chunkHead) & ~announced, chunkHead);
  return copy;
}

/** Exif counts where VP8X, the first chunk of a file with any, announces it. */
function addOrientation(pieces: Buffer[], orientation: number): void {
  const [first] = pieces;
  if (first === undefined || first.length <= chunkHead || first.toString('latin1', 0, 4) !== 'VP8X') return;
  first.writeUInt8(first.readUInt8(chunkHead) | exif, chunkHead);
  const data = orientationDirectory(orientation);
  const head = Buffer.from('EXIF\0\0\0\0', 'latin1');
  head.writeUInt32LE(data.length, 4);
  pieces.push(head, data);
}
