import { exifOrientation, orientationSegment } from './exif-orientation.ts';
import { KeptBytes, standsAt } from './kept-bytes.ts';

const marker = {
  start: 0xd8,
  end: 0xd9,
  scan: 0xda,
  lines: 0xdc,
  restart: 0xdd,
  app0: 0xe0,
  app1: 0xe1,
  app2: 0xe2,
  app14: 0xee,
};
const colourProfile = Buffer.from('ICC_PROFILE\0');
const jfif = Buffer.from('JFIF\0');
const adobe = Buffer.from('Adobe');
/** Of the segments of these two at most, without the preview that may follow in the first. */
const lengths = { jfif: 18, adobe: 16 };
const upright = 1;
const headLength = 4;
/** Of those that have one number: of the lines, and of what lies between restart markers. */
const numberLength = 6;
/** Of an Exif segment that says how a picture is turned. */
const shortestExif = 32;

/**
 * A JPEG without its application segments and comments, but for those that decide about colours (JFIF without its preview, ICC, Adobe) and the
 * orientation, which is rewritten. Ends where the first picture ends, so previews and videos after it are removed.
 */
export function stripJpeg(image: Buffer): Buffer | undefined {
  const kept = new KeptBytes(image);
  kept.keep(0, 2);
  let orientation = upright;
  for (let at = 2; at + 2 <= image.length; ) {
    if (image[at] !== 0xff) return undefined;
    const code = image[at + 1] ?? 0;
    if (code === 0xff) at += 1;
    else if (code === marker.end) {
      kept.keep(at, at + 2);
      return withOrientation(kept.bytes, orientation);
    } else {
      const end = at + 2 + lengthAt(image, at + 2);
      if (code < 0xc0 || isBare(code) || end < at + 4 || end > image.length) return undefined;
      if (code === marker.app1 && orientation === upright && end - at >= shortestExif)
        orientation = exifOrientation(image.subarray(at + headLength, end)) ?? upright;
      const next = code === marker.scan ? endOfScan(image, end) : end;
      // It has to be the first, and another one may hold a preview.
      if (code === marker.app0 && kept.length === 2 && isNamed(jfif, image, at) && end - at >= lengths.jfif)
        kept.add(withoutPreview(image.subarray(at, at + lengths.jfif)));
      else if (isKept(code, image, at, end)) kept.keep(at, next);
      at = next;
    }
  }
  return undefined;
}

function lengthAt(image: Buffer, at: number): number {
  return at + 2 <= image.length ? image.readUInt16BE(at) : 0;
}

/** Markers without a length, which stand in a scan or at the ends only. */
function isBare(code: number): boolean {
  return (code >= 0xd0 && code <= 0xd8) || code === 0xff;
}

function isKept(code: number, image: Buffer, at: number, end: number): boolean {
  if (code === marker.app2) return isNamed(colourProfile, image, at);
  if (code === marker.app14) return isNamed(adobe, image, at) && end - at <= lengths.adobe;
  if (code === marker.lines || code === marker.restart) return end - at === numberLength;
  // What is left of all that are for applications and for extensions of the format, which nothing shows.
  return code < marker.app0;
}

/** Whether the segment at a place says that it is of this kind. */
function isNamed(name: Buffer, image: Buffer, at: number): boolean {
  return standsAt(name, image, at + headLength);
}

function withoutPreview(segment: Buffer): Buffer {
  const short = Buffer.from(segment);
  short.writeUInt16BE(lengths.jfif - 2, 2);
  short.writeUInt16BE(0, lengths.jfif - 2);
  return short;
}

/** Behind the data of a scan, in which 0xff is followed by 0 or by a restart marker. */
function endOfScan(image: Buffer, from: number): number {
  for (let at = from; at + 1 < image.length; at += 1) {
    if (image[at] !== 0xff) continue;
    const next = image[at + 1] as number;
    if (next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
  return image.length;
}

/** Behind JFIF, which has to be the first. */
function withOrientation(kept: Buffer, orientation: number): Buffer {
  if (orientation === upright) return kept;
  const behind = kept[3] === marker.app0 ? 4 + lengthAt(kept, 4) : 2;
  return Buffer.concat([kept.subarray(0, behind), orientationSegment(orientation), kept.subarray(behind)]);
}
