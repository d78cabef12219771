import type { ImageType } from './image-type.ts';
import { stripGif } from './metadata/strip-gif.ts';
import { stripJpeg } from './metadata/strip-jpeg.ts';
import { stripPng } from './metadata/strip-png.ts';
import { stripWebp } from './metadata/strip-webp.ts';

/** What shows an image; undefined for one that is damaged. */
type Strip = (image: Buffer) => Buffer | undefined;

const strips: Readonly<Record<ImageType, Strip>> = {
  'image/jpeg': stripJpeg,
  'image/png': stripPng,
  'image/webp': stripWebp,
  'image/gif': stripGif,
};

/**
 * An image without what cameras and programs write beside the picture: place, time, device, owner, comments, previews and
 * whatever follows its end. Colours stay as they are, and so does the way up. Pixels are not touched. Time is in proportion to the
 * image, and so is memory: as much again, twice as much for a JPEG that is turned.
 *
 * @returns undefined for one that is damaged or cut off
 */
export function stripMetadata(image: Buffer, type: ImageType): Buffer | undefined {
  return strips[type](image);
}
