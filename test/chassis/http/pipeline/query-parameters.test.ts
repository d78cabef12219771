import type { Request } from 'express';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BaseException } from '../../../../src/chassis/errors/exceptions.ts';
import { parseUrlEncoded, queryParameters } from '../../../../src/chassis/http/pipeline/query-parameters.ts';

const of = (url: string) => queryParameters({ url } as Request);

describe('queryParameters', () => {
  it.each([
    ['/x', {}],
    ['/x?', {}],
    ['/x?a=1&b=', { a: '1', b: '' }],
    ['/x?a=1%2B1+x&&c', { a: '1+1 x', c: '' }],
    ['/x?where=%7B%22a%22%3A1%7D#f', { where: '{"a":1}' }],
    ['/x?a=b=c?d', { a: 'b=c?d' }],
    ['/x?a&b=c&', { a: '', b: 'c' }],
    ['/x?=1&a%3D=%26', { '': '1', 'a=': '&' }],
  ])('reads %s', (url, parameters) => {
    expect({ ...of(url) }).toEqual(parameters);
  });

  it('reads a long text as a short one, in little time for a megabyte of blanks', () => {
    const long = (text: string) => of(`/x?a=${text.repeat(1000)}`)['a'];
    expect(long('1%2B1+\u00e9')).toBe('1+1 \u00e9'.repeat(1000));
    const body = `a=${'+'.repeat(1_000_000)}`;
    const times = Array.from({ length: 25 }, () => {
      const started = performance.now();
      parseUrlEncoded(body);
      return performance.now() - started;
    });
    expect(Math.min(...times)).toBeLessThan(10);
  });

  it('has no prototype', () => {
    expect(Object.getPrototypeOf(of('/x?a=1'))).toBeNull();
    expect(of('/x?constructor=1').constructor).toBe('1');
  });

  it('parses once per request', () => {
    const request = { url: '/x?a=1' } as Request;
    expect(queryParameters(request)).toBe(queryParameters(request));
  });

  it('refuses a repeated parameter and names it', () => {
    expect(() => of('/x?page=1&page=2')).toThrow(
      expect.objectContaining({
        statusCode: 400,
        message: 'Invalid request data',
        details: { issues: [{ path: 'page', message: 'Expected this parameter once, found it several times' }] },
      }),
    );
  });

  it.each(['/x?__proto__=1', '/x?a=%', '/x?%zz=1', `/x?${Array.from({ length: 1_001 }, (_, i) => `a${i}`).join('&')}`])(
    'refuses %.20s',
    (url) => {
      expect(() => of(url)).toThrow(expect.objectContaining({ statusCode: 400 }));
    },
  );

  it('gives what was sent, or a 400, for any query', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.string(), { noNullPrototype: true }), (values) => {
        const query = Object.entries(values)
          .map((pair) => pair.map(encodeURIComponent).join('='))
          .join('&');
        if (!Object.hasOwn(values, '__proto__')) expect({ ...of(`/x?${query}`) }).toEqual(values);
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (query) => {
        try {
          of(`/x?${query}`);
        } catch (error) {
          expect((error as BaseException).statusCode).toBe(400);
        }
      }),
    );
  });
});
