import { crc32 } from 'node:zlib';
import { orientationDirectory, tiffOrientation } from './exif-orientation.ts';

const signatureLength = 8;
/** Length and type before the data of a chunk, a checksum behind it. */
const around = 12;
/** What decides about pixels, colours and animation; the rest is about the picture. */
const kept = new Set(
  'IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP cICP mDCV cLLI sBIT bKGD hIST pHYs sPLT acTL fcTL fdAT'.split(' '),
);

const upright = 1;

/** A PNG without its texts, times and Exif but for the orientation, and without what follows its end. */
export function stripPng(image: Buffer): Buffer[] | undefined {
  const pieces = [image.subarray(0, signatureLength)];
  let orientation = upright;
  for (let at = signatureLength; at + around <= image.length; ) {
    const end = at + around + image.readUInt32BE(at);
    if (end > image.length) return undefined;
    const type = image.toString('latin1', at + 4, at + 8);
    if (pieces.length === 1 && type !== 'IHDR') return undefined;
    if (type === 'eXIf') orientation = tiffOrientation(image.subarray(at + 8, end - 4)) ?? upright;
    if (type === 'IEND' && orientation !== upright) pieces.push(exifChunk(orientation));
    if (kept.has(type)) pieces.push(image.subarray(at, end));
    if (type === 'IEND') return pieces;
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
