import { crc32 } from 'node:zlib';
import { orientationDirectory, shortestTiff, tiffOrientation } from './exif-orientation.ts';
import { KeptBytes, shownLengths, typeCode } from './kept-bytes.ts';

const signatureLength = 8;
/** Length and type before the data of a chunk, a checksum behind it. */
const around = 12;
/** What decides about pixels, colours and animation; the rest is about the picture. */
const shown = new Map(
  shownLengths(['IDAT', 'fdAT', 'iCCP'], {
    ...{ IHDR: 13, PLTE: 768, IEND: 0, tRNS: 256, gAMA: 4, cHRM: 32, sRGB: 1, cICP: 4, mDCV: 24, cLLI: 8 },
    ...{ sBIT: 4, bKGD: 6, hIST: 512, pHYs: 9, acTL: 8, fcTL: 26 },
  }),
);
const [first, exif, last] = [typeCode('IHDR'), typeCode('eXIf'), typeCode('IEND')];

const upright = 1;

/** A PNG without its texts, times and Exif but for the orientation, and without what follows its end. */
export function stripPng(image: Buffer): Buffer | undefined {
  const kept = new KeptBytes(image);
  kept.keep(0, signatureLength);
  let orientation = upright;
  for (let at = signatureLength; at + around <= image.length; ) {
    const end = at + around + image.readUInt32BE(at);
    if (end > image.length) return undefined;
    const type = image.readUInt32BE(at + 4);
    if (at === signatureLength && type !== first) return undefined;
    if (type === exif && end - at - around >= shortestTiff)
      orientation = tiffOrientation(image.subarray(at + 8, end - 4)) ?? upright;
    if (type === last && orientation !== upright) kept.add(exifChunk(orientation));
    if (end - at - around <= (shown.get(type) ?? -1)) kept.keep(at, end);
    if (type === last) return end - at === around ? kept.bytes : undefined;
    at = end;
  }
  return undefined;
}

function exifChunk(orientation: number): Buffer {
  const data = Buffer.concat([Buffer.from('eXIf'), orientationDirectory(orientation)]);
  const chunk = Buffer.alloc(data.length + 8);
  chunk.writeUInt32BE(data.length - 4);
  data.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(data), data.length + 4);
  return chunk;
}
