const signatureLength = 8;
/** Length and type before the data of a chunk, a checksum behind it. */
const around = 12;
/** What decides about pixels, colours and animation; the rest is about the picture. */
const kept = new Set(
  'IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP cICP mDCV cLLI sBIT bKGD hIST pHYs sPLT acTL fcTL fdAT'.split(' '),
);

/** A PNG without its texts, times and Exif, and without what follows its end. */
export function stripPng(image: Buffer): Buffer[] | undefined {
  const pieces = [image.subarray(0, signatureLength)];
  for (let at = signatureLength; at + around <= image.length; ) {
    const end = at + around + image.readUInt32BE(at);
    if (end > image.length) return undefined;
    const type = image.toString('latin1', at + 4, at + 8);
    if (pieces.length === 1 && type !== 'IHDR') return undefined;
    if (kept.has(type)) pieces.push(image.subarray(at, end));
    if (type === 'IEND') return pieces;
    at = end;
  }
  return undefined;
}
