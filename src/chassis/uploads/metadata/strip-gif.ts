import { KeptBytes, standsAt } from './kept-bytes.ts';

const screenEnd = 13;
const extension = 0x21;
const frame = 0x2c;
const trailer = 0x3b;
const graphicControl = 0xf9;
const application = 0xff;
/** Applications whose extension says how often an animation is repeated. */
const loops = ['NETSCAPE2.0', 'ANIMEXTS1.0'].map((name) => Buffer.from(name));
const nameLength = 11;
/** Bytes of the one block of an extension that is shown: 4 of how a frame is, 3 of how often all are. */
const mostShown = 4;

/** A GIF without comments, texts and extensions of programs, and without what follows its end. */
export function stripGif(image: Buffer): Buffer | undefined {
  const first = screenEnd + colourTableLength(image[10]);
  const kept = new KeptBytes(image);
  kept.keep(0, first);
  for (let at = first; at < image.length; ) {
    const block = image[at];
    if (block === trailer) {
      kept.keep(at, at + 1);
      return kept.bytes;
    }
    if (block !== extension && block !== frame) return undefined;
    // Behind a frame: its place, its colours and the size of its codes.
    const data = block === extension ? at + 2 : at + 11 + colourTableLength(image[at + 9]);
    const end = endOfBlocks(image, data);
    if (end === undefined) return undefined;
    if (block === frame) kept.keep(at, end);
    else keepShown(kept, image, at, end);
    at = end;
  }
  return undefined;
}

/** Where the first frame of a whole GIF begins; undefined where it has none. */
export function firstGifFrame(image: Buffer): number | undefined {
  let at: number | undefined = screenEnd + colourTableLength(image[10]);
  while (at !== undefined && image[at] === extension) at = endOfBlocks(image, at + 2);
  return at !== undefined && image[at] === frame ? at : undefined;
}

function colourTableLength(flags = 0): number {
  return flags & 0x80 ? 3 << ((flags & 7) + 1) : 0;
}

/** Keeps an extension that is shown, with the first block of its data alone. */
function keepShown(kept: KeptBytes, image: Buffer, at: number, end: number): void {
  const data = shownDataAt(image, at);
  const length = data === undefined ? undefined : image[data];
  if (data === undefined || length === undefined || length > mostShown) return;
  kept.keep(at, data + 1 + length);
  // The empty block that ends it; it may have been the first.
  if (length > 0) kept.keep(end - 1, end);
}

/** Where the data of an extension begins that is shown; undefined for others. */
function shownDataAt(image: Buffer, at: number): number | undefined {
  const label = image[at + 1];
  if (label === graphicControl) return at + 2;
  const isLoop =
    label === application && image[at + 2] === nameLength && loops.some((name) => standsAt(name, image, at + 3));
  return isLoop ? at + 3 + nameLength : undefined;
}

/** Data comes in blocks that begin with their length; an empty one is the last. */
function endOfBlocks(image: Buffer, from: number): number | undefined {
  for (let at = from; at < image.length; ) {
    const size = image[at] ?? 0;
    at += 1 + size;
    if (size === 0) return at;
  }
  return undefined;
}
