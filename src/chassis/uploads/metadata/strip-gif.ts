const screenEnd = 13;
const extension = 0x21;
const frame = 0x2c;
const trailer = 0x3b;
const graphicControl = 0xf9;
const application = 0xff;
/** Applications whose extension says how often an animation is repeated. */
const loops = new Set(['NETSCAPE2.0', 'ANIMEXTS1.0']);

/** A GIF without comments, texts and extensions of programs, and without what follows its end. */
export function stripGif(image: Buffer): Buffer[] | undefined {
  const first = screenEnd + colourTableLength(image[10]);
  const pieces = [image.subarray(0, first)];
  for (let at = first; at < image.length; ) {
    const block = image[at];
    if (block === trailer) return [...pieces, image.subarray(at, at + 1)];
    if (block !== extension && block !== frame) return undefined;
    // Behind a frame: its place, its colours and the size of its codes.
    const data = block === extension ? at + 2 : at + 11 + colourTableLength(image[at + 9]);
    const end = endOfBlocks(image, data);
    if (end === undefined) return undefined;
    if (block === frame || isKept(image, at)) pieces.push(image.subarray(at, end));
    at = end;
  }
  return undefined;
}

function colourTableLength(flags = 0): number {
  return flags & 0x80 ? 3 << ((flags & 7) + 1) : 0;
}

function isKept(image: Buffer, at: number): boolean {
  const label = image[at + 1];
  return label === graphicControl || (label === application && loops.has(image.toString('latin1', at + 3, at + 14)));
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
