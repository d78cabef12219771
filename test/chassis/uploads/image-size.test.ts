import { describe, expect, it } from 'vitest';
import { imageSize } from '../../../src/chassis/uploads/image-size.ts';
import { type ImageType, imageHeadLength } from '../../../src/chassis/uploads/image-type.ts';
import { stripMetadata } from '../../../src/chassis/uploads/strip-metadata.ts';
import { gifBlocks, images, jpegSegment, webpChunk } from '../../support/images.ts';

const [width, height] = [60_000, 40_000];

/** Numbers of two bytes, the low one first. */
function little(...numbers: number[]): Buffer {
  const bytes = Buffer.alloc(2 * numbers.length);
  numbers.forEach((number, index) => void bytes.writeUInt16LE(number, 2 * index));
  return bytes;
}

/** The segment of a JPEG that says its size. */
function frameHeader(code: number): Buffer {
  const data = Buffer.alloc(9, 8);
  data.writeUInt16BE(height, 1);
  data.writeUInt16BE(width, 3);
  return jpegSegment(code, data);
}

function png(): Buffer {
  const image = images.png();
  image.writeUInt32BE(width, 16);
  image.writeUInt32BE(height, 20);
  return image;
}

function gif(): Buffer {
  const image = images.gif();
  little(width, height).copy(image, 6);
  return image;
}

/** A small screen whose first frame, behind a comment, begins at 10 and 20. */
function gifFrame(): Buffer {
  const comment = Buffer.concat([Buffer.from([0x21, 0xfe]), gifBlocks(Buffer.from('a comment'))]);
  const frame = [
    Buffer.from([0x2c]),
    little(10, 20, width - 10, height - 20),
    Buffer.from([0, 2]),
    gifBlocks(Buffer.alloc(9)),
  ];
  return images.gif(undefined, comment, ...frame);
}

/** A lossy picture, whose two sides have fourteen bits each. */
const lossy = Buffer.concat([
  Buffer.from('0000009d012a', 'hex'),
  little(0x4000 | 16_000, 0x8000 | 12_000),
  Buffer.alloc(9),
]);
const lossless = Buffer.concat([Buffer.from([0x2f]), Buffer.alloc(4), Buffer.alloc(9)]);
lossless.writeUInt32LE(15_999 | (11_999 << 14), 1);
const canvas = Buffer.alloc(10);
canvas.writeUIntLE(width - 1, 4, 3);
canvas.writeUIntLE(height - 1, 7, 3);

/** A WebP whose first chunk is this one. */
function webp(type: string, data: Buffer): Buffer {
  return images.webp(Buffer.alloc(20), webpChunk(type, data));
}

const pictures: [name: string, type: ImageType, image: Buffer, size: [number, number]][] = [
  ['PNG', 'image/png', png(), [width, height]],
  ['GIF', 'image/gif', gif(), [width, height]],
  ['GIF with a first frame beyond its screen', 'image/gif', gifFrame(), [width, height]],
  [
    'JPEG',
    'image/jpeg',
    images.jpg(undefined, jpegSegment(0xc4, Buffer.alloc(20)), frameHeader(0xc0)),
    [width, height],
  ],
  ['progressive JPEG', 'image/jpeg', images.jpg(undefined, frameHeader(0xc2)), [width, height]],
  ['extended WebP', 'image/webp', webp('VP8X', canvas), [width, height]],
  ['lossy WebP', 'image/webp', webp('VP8 ', lossy), [16_000, 12_000]],
  ['lossless WebP', 'image/webp', webp('VP8L', lossless), [16_000, 12_000]],
];

describe('the size of a picture', () => {
  it.for(pictures)('is what a %s announces', ([, type, image, [wide, high]]) => {
    const stripped = stripMetadata(image, type);
    expect(stripped && imageSize(stripped, type)).toEqual({ width: wide, height: high });
  });

  it('is undefined where a picture announces none', () => {
    expect(imageSize(images.jpg(), 'image/jpeg')).toBeUndefined();
    expect(imageSize(webp('ICCP', Buffer.alloc(20)), 'image/webp')).toBeUndefined();
    expect(imageSize(Buffer.from('RIFF\0\0\0\0WEBP', 'latin1'), 'image/webp')).toBeUndefined();
  });

  it.for(pictures)('is read without an error of a %s that ends anywhere', ([, type, image]) => {
    for (let length = imageHeadLength; length < image.length; length += 1) {
      const stripped = stripMetadata(image.subarray(0, length), type);
      expect(() => stripped && imageSize(stripped, type)).not.toThrow();
    }
  });
});
