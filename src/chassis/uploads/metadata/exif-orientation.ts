import { standsAt } from './kept-bytes.ts';

const exifName = Buffer.from('Exif\0\0');
const littleEndian = Buffer.from('II');
const orientationTag = 0x0112;
const entryLength = 12;
/** With a single entry. A shorter one tells nothing, and need not be looked into. */
export const shortestTiff = 8 + 2 + entryLength;

/** The orientation in the data of an Exif segment of a JPEG, 1 to 8; undefined without one. */
export function exifOrientation(data: Buffer): number | undefined {
  return standsAt(exifName, data, 0) ? tiffOrientation(data.subarray(exifName.length)) : undefined;
}

/** The same of an Exif chunk of a PNG or WebP; some programs write the name of the segment into these too. */
export function tiffOrientation(data: Buffer): number | undefined {
  const tiff = standsAt(exifName, data, 0) ? data.subarray(exifName.length) : data;
  if (tiff.length < shortestTiff) return undefined;
  const little = standsAt(littleEndian, tiff, 0);
  const short = (at: number) => (little ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const first = little ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  if (first + 2 > tiff.length) return undefined;
  const count = Math.min(short(first), Math.floor((tiff.length - first - 2) / entryLength));
  for (let index = 0; index < count; index += 1) {
    const entry = first + 2 + index * entryLength;
    if (short(entry) !== orientationTag) continue;
    const value = short(entry + 8);
    return value >= 1 && value <= 8 ? value : undefined;
  }
  return undefined;
}

/** An Exif directory that says how a picture is turned, and nothing else; 26 bytes. */
export function orientationDirectory(orientation: number): Buffer {
  const directory = Buffer.from('0001' + '0112' + '0003' + '00000001' + '0000' + '0000' + '00000000', 'hex');
  directory.writeUInt16BE(orientation, 10);
  return Buffer.concat([Buffer.from('4d4d002a00000008', 'hex'), directory]);
}

/** The same as a segment of a JPEG. */
export function orientationSegment(orientation: number): Buffer {
  const tiff = orientationDirectory(orientation);
  const head = Buffer.from([0xff, 0xe1, 0, 2 + exifName.length + tiff.length]);
  return Buffer.concat([head, exifName, tiff]);
}
