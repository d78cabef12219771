import type { ImageType } from './image-type.ts';
import { firstGifFrame } from './metadata/strip-gif.ts';

/** How wide and how high a picture says that it is, in pixels. */
interface ImageSize {
  width: number;
  height: number;
}

const readers: Readonly<Record<ImageType, (image: Buffer) => ImageSize | undefined>> = {
  'image/png': (image) => ({ width: image.readUInt32BE(16), height: image.readUInt32BE(20) }),
  'image/gif': gifSize,
  'image/jpeg': jpegSize,
  'image/webp': webpSize,
};

/** The most bytes before the size of a picture, but for a JPEG, whose segments stand before it. */
const headLength = 30;

/**
 * The size of a picture, for which whoever shows it makes room however few bytes it has.
 *
 * @param image a whole one, as `stripMetadata` leaves it
 * @returns undefined where the picture does not say
 */
export function imageSize(image: Buffer, type: ImageType): ImageSize | undefined {
  return image.length < headLength ? undefined : readers[type](image);
}

/** Of its screen, which browsers enlarge for a first frame that is larger. */
function gifSize(image: Buffer): ImageSize {
  const frame = firstGifFrame(image);
  const side = (screenAt: number, placeAt: number) => {
    const framed =
      frame === undefined ? 0 : image.readUInt16LE(frame + placeAt) + image.readUInt16LE(frame + placeAt + 4);
    return Math.max(image.readUInt16LE(screenAt), framed);
  };
  return { width: side(6, 1), height: side(8, 3) };
}

/** In the first frame header, of which there are thirteen kinds among other segments. */
function jpegSize(image: Buffer): ImageSize | undefined {
  for (let at = 2; at + 9 <= image.length; at += 2 + image.readUInt16BE(at + 2)) {
    const code = image[at + 1] ?? 0;
    if (code >= 0xc0 && code <= 0xcf && code !== 0xc4 && code !== 0xc8 && code !== 0xcc)
      return { height: image.readUInt16BE(at + 5), width: image.readUInt16BE(at + 7) };
  }
  return undefined;
}

/** Before the size of a lossy WebP; a lossless one has a single byte. */
const lossyMark = Buffer.from('9d012a', 'hex');
const losslessMark = 0x2f;

/** In the first chunk, which is of one of three kinds. */
function webpSize(image: Buffer): ImageSize | undefined {
  switch (image.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: image.readUIntLE(24, 3) + 1, height: image.readUIntLE(27, 3) + 1 };
    case 'VP8 ':
      if (!image.subarray(23, 26).equals(lossyMark)) return undefined;
      return { width: image.readUInt16LE(26) & 0x3fff, height: image.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      if (image[20] !== losslessMark) return undefined;
      const bits = image.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    default:
      return undefined;
  }
}
