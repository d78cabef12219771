import { orientationDirectory, shortestTiff, tiffOrientation } from './exif-orientation.ts';
import { KeptBytes, shownLengths, typeCode } from './kept-bytes.ts';

const headLength = 12;
const chunkHead = 8;
/** Of the head of a frame of an animation, behind which its chunks come. */
const frameHead = 16;
/** What pictures and the frames of an animation are made of. */
const pixels: readonly string[] = ['VP8 ', 'VP8L', 'ALPH'];
const shown = new Map(shownLengths([...pixels, 'ICCP'], { VP8X: 10, ANIM: 6 }));
const shownInFrames = new Set(pixels.map(typeCode));
const [extended, directory, frame] = [typeCode('VP8X'), typeCode('EXIF'), typeCode('ANMF')];
/** Bits of VP8X that announce Exif, and Exif and XMP. */
const exif = 0x08;
const announced = exif | 0x04;
const upright = 1;

/** A WebP without Exif but for the orientation, XMP and chunks of others, and without what follows its end. */
export function stripWebp(image: Buffer): Buffer | undefined {
  const end = Math.min(image.length, chunkHead + image.readUInt32LE(4));
  const kept = new KeptBytes(image);
  kept.keep(0, headLength);
  let orientation = upright;
  let at = headLength;
  while (at + chunkHead <= end) {
    const size = image.readUInt32LE(at + 4);
    // Chunks begin at even places.
    const next = at + chunkHead + size + (size % 2);
    if (at + chunkHead + size > image.length) return undefined;
    const type = image.readUInt32BE(at);
    if (type === frame) keepFrame(kept, image, at, next);
    else if (size <= (shown.get(type) ?? -1)) {
      const from = kept.length;
      kept.keep(at, next);
      // It has to be the first.
      if (type === extended && size > 0 && from === headLength) clearFlags(kept.bytes, from + chunkHead);
    }
    if (type === directory && size >= shortestTiff)
      orientation = tiffOrientation(image.subarray(at + chunkHead, at + chunkHead + size)) ?? upright;
    at = next;
  }
  if (kept.length === headLength) return undefined;
  if (orientation !== upright) addOrientation(kept, orientation);
  const { bytes } = kept;
  bytes.writeUInt32LE(bytes.length - chunkHead, 4);
  return bytes;
}

/** Keeps a frame of an animation without what is not shown of it; one without a whole head is none. */
function keepFrame(kept: KeptBytes, image: Buffer, from: number, end: number): void {
  let at = from + chunkHead + frameHead;
  if (at > end) return;
  const start = kept.length;
  kept.keep(from, at);
  while (at + chunkHead <= end) {
    const size = image.readUInt32LE(at + 4);
    const next = Math.min(end, at + chunkHead + size + (size % 2));
    if (shownInFrames.has(image.readUInt32BE(at))) kept.keep(at, next);
    at = next;
  }
  kept.bytes.writeUInt32LE(kept.length - start - chunkHead, start + 4);
}

function clearFlags(bytes: Buffer, at: number): void {
  bytes.writeUInt8(bytes.readUInt8(at) & ~announced, at);
}

/** Exif counts where VP8X, the first chunk of a file with any, announces it. */
function addOrientation(kept: KeptBytes, orientation: number): void {
  const { bytes } = kept;
  const flags = headLength + chunkHead;
  if (bytes.readUInt32BE(headLength) !== extended || bytes.readUInt32LE(headLength + 4) === 0) return;
  bytes.writeUInt8(bytes.readUInt8(flags) | exif, flags);
  const data = orientationDirectory(orientation);
  const head = Buffer.from('EXIF\0\0\0\0', 'latin1');
  head.writeUInt32LE(data.length, 4);
  kept.add(Buffer.concat([head, data]));
}
