import { describe, expect, it } from 'vitest';
import { createCursorCodec } from '../../../src/chassis/query/cursor.ts';
import { reasonOf, refusalOf } from './refusal-of.ts';

const codec = createCursorCodec('a secret of the tests');

describe('a cursor', () => {
  it('gives back the values that it was made of, dates and big integers included', () => {
    const values = [2, 'a', null, true, new Date('2026-01-01'), 2n ** 63n - 1n, '0.10', 'ü\u{1f600}'];
    const text = codec.encode(values, 'list');
    expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(codec.decode(text, 'list')).toEqual(values);
  });

  it('is refused for another binding and under another secret', () => {
    const text = codec.encode([1, 'a'], 'Product by name');
    const message = reasonOf(() => codec.decode(text, 'Product by price'));
    expect(message).toMatch(/^cursor: /);
    expect(reasonOf(() => createCursorCodec('another secret here').decode(text, 'Product by name'))).toBe(message);
  });

  it('is refused when any bit of it is changed', () => {
    const bytes = Buffer.from(codec.encode([1, 'a'], 'list'), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const forged = Buffer.from(bytes);
      forged[bit >> 3] = (forged[bit >> 3] as number) ^ (1 << (bit & 7));
      refusalOf(() => codec.decode(forged.toString('base64url'), 'list'));
    }
  });

  it.each(['x', 'AQ', '{}', ' ', 'A'.repeat(9000), '\ud800'])('is refused when it is %j', (text) => {
    refusalOf(() => codec.decode(text, 'list'));
  });

  it('needs a secret of at least 16 characters', () => {
    expect(() => createCursorCodec('short')).toThrow('at least 16 characters, got 5. Set CURSOR_SECRET.');
  });
});
