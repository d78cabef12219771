import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { ImageType } from '../../../src/chassis/uploads/image-type.ts';
import { exifOrientation, tiffOrientation } from '../../../src/chassis/uploads/metadata/exif-orientation.ts';
import { stripMetadata } from '../../../src/chassis/uploads/strip-metadata.ts';
import { gifBlocks, images, jpegSegment, pngChunk, webpChunk } from '../../support/images.ts';

const place = Buffer.from('GPS 52.5,13.4 of an owner');
const pixels = Buffer.alloc(600, 7);
const empty = Buffer.alloc(0);

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

function heapInUse(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** An Exif directory with an orientation and a text; little-endian, as cameras write it. */
function exif(orientation: number): Buffer {
  const head = Buffer.from('4949' + '2a00' + '08000000' + '0200', 'hex');
  const turned = Buffer.from(`12010300010000000${orientation}000000`, 'hex');
  const text = Buffer.from('0f01' + '0200' + '19000000' + '26000000' + '00000000', 'hex');
  return Buffer.concat([Buffer.from('Exif\0\0'), head, turned, text, place]);
}

const stripped = (image: Buffer, type: ImageType) => stripMetadata(image, type) ?? Buffer.alloc(0);

const types: [ImageType, clean: Buffer, tagged: Buffer][] = [
  [
    'image/jpeg',
    images.jpg(pixels, jpegSegment(0xe2, Buffer.from('ICC_PROFILE\0..')), jpegSegment(0xee, Buffer.from('Adobe'))),
    images.jpg(
      pixels,
      jpegSegment(0xe1, exif(1)),
      jpegSegment(0xe2, Buffer.from('ICC_PROFILE\0..')),
      jpegSegment(0xe2, Buffer.concat([Buffer.from('MPF\0'), place])),
      jpegSegment(0xed, place),
      jpegSegment(0xee, Buffer.from('Adobe')),
      jpegSegment(0xfe, place),
    ),
  ],
  [
    'image/png',
    images.png(pixels, pngChunk('gAMA', Buffer.alloc(4)), pngChunk('iCCP', Buffer.alloc(9))),
    images.png(
      pixels,
      pngChunk('gAMA', Buffer.alloc(4)),
      ...['tEXt', 'zTXt', 'iTXt', 'eXIf', 'tIME', 'prVt'].map((type) => pngChunk(type, place)),
      pngChunk('iCCP', Buffer.alloc(9)),
    ),
  ],
  [
    'image/webp',
    images.webp(
      pixels,
      webpChunk('VP8X', Buffer.from([0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0])),
      webpChunk('ICCP', Buffer.alloc(3)),
    ),
    images.webp(
      pixels,
      webpChunk('VP8X', Buffer.from([0x2c, 0, 0, 0, 0, 0, 0, 0, 0, 0])),
      webpChunk('ICCP', Buffer.alloc(3)),
      ...['EXIF', 'XMP ', 'priv'].map((type) => webpChunk(type, place)),
    ),
  ],
  [
    'image/gif',
    images.gif(pixels, Buffer.from([0x21, 0xff, 11]), Buffer.from('NETSCAPE2.0'), gifBlocks(Buffer.from([1, 0, 0]))),
    images.gif(
      pixels,
      Buffer.from([0x21, 0xff, 11]),
      Buffer.from('NETSCAPE2.0'),
      gifBlocks(Buffer.from([1, 0, 0])),
      Buffer.concat([Buffer.from([0x21, 0xfe]), gifBlocks(place)]),
      Buffer.concat([Buffer.from([0x21, 0xff, 11]), Buffer.from('XMP DataXMP'), gifBlocks(place)]),
    ),
  ],
];

describe.each(types)('stripMetadata of %s', (type, clean, tagged) => {
  it('removes what tells of place, time and owner, and keeps pixels, colours and animation', () => {
    expect(tagged.includes(place)).toBe(true);
    expect(stripped(tagged, type)).toEqual(clean);
  });

  it('leaves an image without metadata as it is', () => {
    expect(stripped(clean, type)).toEqual(clean);
  });

  it('removes what follows the end', () => {
    expect(stripped(Buffer.concat([clean, place]), type)).toEqual(clean);
  });

  it('gives nothing for an image that is cut off anywhere, and never throws', () => {
    for (let length = 12; length < tagged.length; length += 1) {
      const pieces = stripMetadata(tagged.subarray(0, length), type);
      // A WebP may end behind any of its chunks.
      if (type !== 'image/webp') expect(pieces, `${length}`).toBeUndefined();
    }
  });

  it('never throws and takes time in proportion to any bytes', () => {
    const head = clean.subarray(0, 12);
    const started = performance.now();
    for (const byte of [0, 1, 0x21, 0xff, 0xd8, 0xe1])
      stripMetadata(Buffer.concat([head, Buffer.alloc(2_000_000, byte)]), type);
    for (let at = 12; at < tagged.length; at += 1) {
      for (const byte of [0, 0x7f, 0xff]) {
        const damaged = Buffer.from(tagged);
        damaged[at] = byte;
        stripMetadata(damaged, type);
      }
    }
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

describe('an image of hundreds of thousands of parts', () => {
  const ofParts = (part: Buffer) => Buffer.alloc(part.length * Math.floor(1_500_000 / part.length), part);
  const kept = Buffer.from('21f900', 'hex');
  const removed = Buffer.from('21fe00', 'hex');

  it.each<[string, ImageType, (parts: Buffer) => Buffer, kept: Buffer, removed: Buffer]>([
    ['GIF', 'image/gif', (parts) => images.gif(pixels, parts), kept, removed],
    ['PNG', 'image/png', (parts) => images.png(pixels, parts), pngChunk('IDAT', empty), pngChunk('tEXt', empty)],
    ['JPEG', 'image/jpeg', (parts) => images.jpg(pixels, parts), jpegSegment(0xc0, empty), jpegSegment(0xfe, empty)],
    ['WebP', 'image/webp', (parts) => images.webp(pixels, parts), webpChunk('ALPH', empty), webpChunk('EXIF', empty)],
  ])('of the type %s takes no more memory than its bytes', (_name, type, image, shown, hidden) => {
    const whole = image(ofParts(shown));
    const mixed = image(ofParts(Buffer.concat([shown, hidden])));
    const before = heapInUse();
    const [same, left] = [whole, mixed].map((made) => stripMetadata(made, type) as Buffer);
    expect(heapInUse() - before).toBeLessThan(5_000_000);
    expect(same?.equals(whole)).toBe(true);
    const count = Math.floor(1_500_000 / (shown.length + hidden.length));
    expect(left?.length).toBe(image(Buffer.alloc(count * shown.length, shown)).length);
  });
});

describe('segments, chunks and extensions that are told by the bytes in them', () => {
  // By turns, and often enough that both meet compiled code and a machine that does nothing else.
  const fastest = (images: readonly Buffer[], type: ImageType) => {
    const times = images.map(() => Number.POSITIVE_INFINITY);
    for (let turn = 0; turn < 20; turn += 1) {
      for (const [index, image] of images.entries()) {
        const started = performance.now();
        stripMetadata(image, type);
        times[index] = Math.min(times[index] as number, performance.now() - started);
      }
    }
    return times as [told: number, plain: number];
  };
  const withParts = (make: (pixels: Buffer, ...parts: Buffer[]) => Buffer, part: Buffer) =>
    make(pixels, Buffer.alloc(part.length * 200_000, part));

  it.each<[string, ImageType, told: Buffer, plain: Buffer]>([
    ['JPEG (ICC)', 'image/jpeg', ...jpegPairOf(0xe2)],
    ['JPEG (Adobe)', 'image/jpeg', ...jpegPairOf(0xee)],
    [
      'PNG',
      'image/png',
      withParts(images.png, pngChunk('eXIf', empty)),
      withParts(images.png, pngChunk('tEXt', empty)),
    ],
    [
      'WebP',
      'image/webp',
      withParts(images.webp, webpChunk('EXIF', empty)),
      withParts(images.webp, webpChunk('abcd', empty)),
    ],
  ])('take a %s of 200,000 of them no more than three times as long as others', (_name, type, told, plain) => {
    const [ofTold, ofPlain] = fastest([told, plain], type);
    expect(ofTold).toBeLessThan(3 * ofPlain);
  });

  function jpegPairOf(code: number): [told: Buffer, plain: Buffer] {
    return [withParts(images.jpg, jpegSegment(code, empty)), withParts(images.jpg, jpegSegment(0xfe, empty))];
  }
});

describe('a JPEG', () => {
  it('keeps no preview, and nothing in segments that programs made for themselves', () => {
    const own = (name: string) => Buffer.concat([Buffer.from(name), place]);
    // Where the first segment ends.
    const length = 20;
    const image = images.jpg(
      pixels,
      ...['JFXX\0', 'Ocad', 'JFIF\0'].map((name) => jpegSegment(0xe0, own(name))),
      ...['Adobe', 'Other'].map((name) => jpegSegment(0xee, own(name))),
      jpegSegment(0xf3, place),
    );
    const preview = Buffer.concat([image.subarray(6, length - 2), Buffer.from([3, 3]), place, Buffer.from([0, 0])]);
    const tagged = Buffer.concat([image.subarray(0, 2), jpegSegment(0xe0, preview), image.subarray(length)]);
    expect(stripped(tagged, 'image/jpeg').equals(images.jpg(pixels))).toBe(true);
  });
});

describe('the way up of a JPEG', () => {
  it.each([3, 6, 8])('stays, as orientation %d and nothing else', (orientation) => {
    const image = stripped(images.jpg(pixels, jpegSegment(0xe1, exif(orientation))), 'image/jpeg');
    expect(image.includes(place)).toBe(false);
    const segment = image.indexOf(Buffer.from('ffe1', 'hex'));
    expect(exifOrientation(image.subarray(segment + 4))).toBe(orientation);
    expect(image.length).toBe(images.jpg(pixels).length + 36);
  });
});

describe.each([
  ['image/png', (data: Buffer) => images.png(pixels, pngChunk('eXIf', data)), 'eXIf'],
  [
    'image/webp',
    (data: Buffer) =>
      images.webp(pixels, webpChunk('VP8X', Buffer.from([8, ...Buffer.alloc(9)])), webpChunk('EXIF', data)),
    'EXIF',
  ],
] as const)('the way up of %s', (type, made, name) => {
  it.each([3, 6, 8])('stays, as orientation %d and nothing else', (orientation) => {
    for (const data of [exif(orientation), exif(orientation).subarray(6)]) {
      const image = stripped(made(data), type);
      expect(image.includes(place)).toBe(false);
      expect(tiffOrientation(image.subarray(image.indexOf(name) + (type === 'image/png' ? 4 : 8)))).toBe(orientation);
      // The chunk has 26 bytes of data; what remains is a picture that stays as it is.
      expect(image.length).toBe(stripped(made(Buffer.alloc(0)), type).length + 26 + (type === 'image/png' ? 12 : 8));
      expect(stripped(image, type)).toEqual(image);
    }
  });
});
