import { describe, expect, it } from 'vitest';
import type { ImageType } from '../../../../src/chassis/uploads/image-type.ts';
import { stripMetadata } from '../../../../src/chassis/uploads/strip-metadata.ts';
import { images, jpegSegment, pngChunk, webpChunk } from '../../../support/images.ts';

const place = Buffer.from('GPS 52.5,13.4 of an owner');
const pixels = Buffer.alloc(600, 7);

describe('what a picture shows', () => {
  const loop = (...blocks: Buffer[]) =>
    Buffer.concat([Buffer.from([0x21, 0xff, 11]), Buffer.from('NETSCAPE2.0'), ...blocks.map(block), Buffer.from([0])]);
  const control = (...blocks: Buffer[]) =>
    Buffer.concat([Buffer.from([0x21, 0xf9]), ...blocks.map(block), Buffer.from([0])]);
  const block = (data: Buffer) => Buffer.concat([Buffer.from([data.length]), data]);
  const [twice, delay] = [Buffer.from([1, 2, 0]), Buffer.from([0, 5, 0, 0])];
  const head = (...more: Buffer[]) => webpChunk('VP8X', Buffer.concat([Buffer.from([2]), Buffer.alloc(9), ...more]));
  const frame = (...more: Buffer[]) =>
    webpChunk('ANMF', Buffer.concat([Buffer.alloc(16, 1), webpChunk('ALPH', Buffer.alloc(3, 2)), ...more]));
  const shownFrame = webpChunk('VP8 ', Buffer.alloc(6, 3));

  it.each<[string, ImageType, clean: Buffer, tagged: Buffer]>([
    [
      'the blocks of an extension behind the first',
      'image/gif',
      images.gif(pixels, loop(twice), control(delay)),
      images.gif(pixels, loop(twice, place), loop(place), control(delay, place), control(place)),
    ],
    [
      'a frame of an animation',
      'image/webp',
      images.webp(pixels, head(), frame(shownFrame)),
      images.webp(
        pixels,
        head(),
        frame(webpChunk('EXIF', place), shownFrame, webpChunk('XMP ', place), place.subarray(0, 6)),
      ),
    ],
    ['a head that is too long', 'image/webp', images.webp(pixels), images.webp(pixels, head(place))],
    [
      'a frame without a head',
      'image/webp',
      images.webp(pixels),
      images.webp(pixels, webpChunk('ANMF', place.subarray(0, 8))),
    ],
    [
      'chunks that are longer than they can be, and names of colours',
      'image/png',
      images.png(pixels),
      images.png(pixels, ...['gAMA', 'pHYs', 'sPLT'].map((type) => pngChunk(type, Buffer.alloc(40, place)))),
    ],
    [
      'a number of lines that is a text',
      'image/jpeg',
      images.jpg(pixels, jpegSegment(0xdd, Buffer.from([0, 8]))),
      images.jpg(pixels, jpegSegment(0xdd, Buffer.from([0, 8])), jpegSegment(0xdc, place)),
    ],
  ])('is left where something is hidden in %s', (_place, type, clean, tagged) => {
    expect(stripMetadata(clean, type)).toEqual(clean);
    expect(stripMetadata(tagged, type)).toEqual(clean);
  });

  it('has nothing in the end of a PNG', () => {
    const image = Buffer.concat([images.png(pixels).subarray(0, -12), pngChunk('IEND', place)]);
    expect(stripMetadata(image, 'image/png')).toBeUndefined();
  });
});
