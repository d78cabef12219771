import { crc32 } from 'node:zlib';
import { orientationDirectory, shortestTiff, tiffOrientation } from './exif-orientation.ts';
import { KeptBytes, typeCode } from './kept-bytes.ts';

const signatureLength = 8;
/** Length and type before the data of a chunk, a checksum behind it. */
const around = 12;
/** What decides about pixels, colours and animation; the rest is about the picture. */
const shown = new Set(
  'IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP cICP mDCV cLLI sBIT bKGD hIST pHYs sPLT acTL fcTL fdAT'
    .split(' ')
    .map(typeCode),
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
    if (shown.has(type)) kept.keep(at, end);
    if (type === last) return kept.bytes;
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
