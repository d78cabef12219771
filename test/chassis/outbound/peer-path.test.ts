import { describe, expect, it } from 'vitest';
import { peerPath } from '../../../src/chassis/outbound/peer-path.ts';

describe('the path of a call', () => {
  it.each([
    ['/charges/{id}', { path: { id: 'a/b?c' } }, '/charges/a%2Fb%3Fc'],
    [
      '/charges',
      { query: { ids: ['1', '2'], limit: undefined, at: new Date(0) } },
      '/charges?ids=1&ids=2&at=1970-01-01T00%3A00%3A00.000Z',
    ],
    ['/charges/{id}/lines/{line}', { path: { id: 1, line: 2 } }, '/charges/1/lines/2'],
  ])('of %s is filled with what is given', (template, parameters, path) => {
    expect(peerPath(template, parameters)).toBe(path);
  });

  it.each([undefined, null])('is a fault of the caller with %j in it', (id) => {
    expect(() => peerPath('/charges/{id}', { path: { id } })).toThrow(
      /^Expected a value for \{id\} of \/charges\/\{id\}/,
    );
  });

  it.each(['', '.', '..', '\ud800', 'a\udc00b'])('is a 400 with %j in it, which tells nothing of the path', (id) => {
    const filled = () => peerPath('/charges/{id}', { path: { id } });
    expect(filled).toThrow(expect.objectContaining({ statusCode: 400, message: 'Invalid request data' }));
    expect(filled).toThrow(expect.objectContaining({ details: undefined }));
  });
});
