import { createHmac, hkdfSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createCursorCodec } from '../../../../src/chassis/query/paging/cursor.ts';
import { reasonOf, refusalOf } from '../refusal-of.ts';

const secret = 'a secret of the tests, 32 letters or more';
const codec = createCursorCodec(secret);

/** A cursor as one who knows the secret can make it, with any payload. */
function signed(payload: string, binding: string): string {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'slipway paging cursors', 32));
  const mac = createHmac('sha256', key).update(`1\0${binding.length}\0${binding}`).update(payload).digest();
  return Buffer.concat([Buffer.of(1), mac.subarray(0, 16), Buffer.from(payload)]).toString('base64url');
}

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
    expect(
      reasonOf(() =>
        createCursorCodec('another secret of the tests, 32 letters or more').decode(text, 'Product by name'),
      ),
    ).toBe(message);
  });

  it('is refused when any bit of it is changed', () => {
    const bytes = Buffer.from(codec.encode([1, 'a'], 'list'), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const forged = Buffer.from(bytes);
      forged[bit >> 3] = (forged[bit >> 3] as number) ^ (1 << (bit & 7));
      refusalOf(() => codec.decode(forged.toString('base64url'), 'list'));
    }
  });

  it('is refused in every other text of the same bytes', () => {
    const texts = ['a', 'ab', 'abc'].map((value) => codec.encode([value], 'list'));
    const whole = texts.find(({ length }) => length % 4 === 0) as string;
    const spare = texts.find(({ length }) => length % 4 === 2) as string;
    const next = { A: 'B', Q: 'R', g: 'h', w: 'x' }[spare.at(-1) as string];
    const others = [`${spare.slice(0, -1)}${next}`, `${spare}=`, `${spare} `, `${spare.slice(0, 9)}.${spare.slice(9)}`];
    for (const [text, other] of [[whole, `${whole}A`], ...others.map((other) => [spare, other])] as [
      string,
      string,
    ][]) {
      expect(Buffer.from(other, 'base64url')).toEqual(Buffer.from(text, 'base64url'));
      expect(codec.decode(text, 'list')).toHaveLength(1);
      refusalOf(() => codec.decode(other, 'list'));
    }
  });

  it.each(['x', 'AQ', '{}', ' ', 'A'.repeat(9000), '\ud800'])('is refused when it is %j', (text) => {
    refusalOf(() => codec.decode(text, 'list'));
  });

  it('is refused when what is signed is no list of values', () => {
    for (const payload of ['', '[2,[]]', '{}', '7', '[{}]', '[{"bigint":"x"}]', '[{"bigint":{}}]', '{"a":[', 'null']) {
      refusalOf(() => codec.decode(signed(payload, 'list'), 'list'));
    }
  });

  it('is signed with a key that is derived from the secret for this use alone', () => {
    expect(codec.encode([2, 'a'], 'list')).toBe(signed('[2,"a"]', 'list'));
  });

  it('needs a secret of at least 32 bytes', () => {
    expect(() => createCursorCodec('short')).toThrow('at least 32 bytes, got 5. Set CURSOR_SECRET.');
  });
});
