import { describe, expect, it } from 'vitest';
import { askedRange, byteRange } from '../../../../src/chassis/uploads/files/byte-range.ts';

describe('byteRange', () => {
  it.each([
    ['bytes=0-0', { start: 0, end: 0 }],
    ['bytes=0-', { start: 0, end: 99 }],
    ['bytes=90-200', { start: 90, end: 99 }],
    ['bytes=-10', { start: 90, end: 99 }],
    ['bytes=-1000', { start: 0, end: 99 }],
    ['Bytes= 5-7 ', { start: 5, end: 7 }],
  ])('reads %s of 100 bytes', (range, part) => {
    expect(byteRange(range, 100)).toEqual(part);
  });

  it.each(['bytes=0-1,5-6', 'bytes=7-5', 'bytes=-', 'bytes=a-b', 'items=0-1', '', 'bytes=9999999999999999-'])(
    'answers with the whole for %j',
    (range) => {
      expect(byteRange(range, 100)).toBeUndefined();
    },
  );

  it.each(['bytes=100-', 'bytes=100-200', 'bytes=-0'])('refuses %s of 100 bytes with 416', (range) => {
    expect(() => byteRange(range, 100)).toThrow(
      expect.objectContaining({ statusCode: 416, headers: { 'Content-Range': 'bytes */100' } }),
    );
  });

  it('answers with the whole of an empty file for its end', () => {
    expect(byteRange('bytes=-5', 0)).toBeUndefined();
  });
});

it('askedRange counts with an If-Range of this content only', () => {
  const etag = '"a"';
  expect(askedRange({ range: 'bytes=0-' }, etag)).toBe('bytes=0-');
  expect(askedRange({ range: 'bytes=0-', 'if-range': '"a"' }, etag)).toBe('bytes=0-');
  for (const other of ['"b"', 'W/"a"', 'Sun, 22 Nov 2026 10:00:00 GMT']) {
    expect(askedRange({ range: 'bytes=0-', 'if-range': other }, etag)).toBeUndefined();
  }
});
