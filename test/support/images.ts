/** Images of every type that may be uploaded, as small as they can be; `filler` is the data of their pixels. */
export const images = {
  png: (filler: Buffer = Buffer.alloc(20, 1), ...more: Buffer[]) =>
    Buffer.concat([
      Buffer.from('89504e470d0a1a0a', 'hex'),
      pngChunk('IHDR', Buffer.from('00000001000000010806000000', 'hex')),
      ...more,
      pngChunk('IDAT', filler),
      pngChunk('IEND', Buffer.alloc(0)),
    ]),
  jpg: (filler: Buffer = Buffer.alloc(20, 1), ...more: Buffer[]) =>
    Buffer.concat([
      Buffer.from('ffd8', 'hex'),
      jpegSegment(0xe0, Buffer.from('JFIF\0\x01\x01\0\0\x01\0\x01\0\0', 'latin1')),
      ...more,
      jpegSegment(0xdb, Buffer.alloc(65)),
      jpegSegment(0xda, Buffer.alloc(6)),
      filler,
      Buffer.from('ffd9', 'hex'),
    ]),
  gif: (filler: Buffer = Buffer.alloc(20, 1), ...more: Buffer[]) =>
    Buffer.concat([
      Buffer.from('GIF89a\x01\0\x01\0\x80\0\0', 'latin1'),
      Buffer.alloc(6),
      ...more,
      Buffer.from('2c00000000010001000002', 'hex'),
      gifBlocks(filler),
      Buffer.from(';'),
    ]),
  webp: (filler: Buffer = Buffer.alloc(20, 1), ...more: Buffer[]) => {
    const chunks = Buffer.concat([...more, webpChunk('VP8 ', filler)]);
    const head = Buffer.from('RIFF\0\0\0\0WEBP', 'latin1');
    head.writeUInt32LE(4 + chunks.length, 4);
    return Buffer.concat([head, chunks]);
  },
};

/** A chunk of a PNG, whose checksum nobody here looks at. */
export function pngChunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)]);
}

/** A segment of a JPEG. */
export function jpegSegment(code: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, code, 0, 0]);
  head.writeUInt16BE(2 + data.length, 2);
  return Buffer.concat([head, data]);
}

/** A chunk of a WebP, which begins and ends at an even place. */
export function webpChunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(data.length);
  return Buffer.concat([Buffer.from(type), length, data, Buffer.alloc(data.length % 2)]);
}

/** The data of a GIF in blocks. */
export function gifBlocks(data: Buffer): Buffer {
  const blocks: Buffer[] = [];
  for (let at = 0; at < data.length; at += 255) {
    const block = data.subarray(at, at + 255);
    blocks.push(Buffer.from([block.length]), block);
  }
  return Buffer.concat([...blocks, Buffer.alloc(1)]);
}
