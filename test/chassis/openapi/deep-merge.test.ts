import { describe, expect, it } from 'vitest';
import { deepMerge } from '../../../src/chassis/openapi/deep-merge.ts';

describe('merging documents', () => {
  it('merges objects key by key and replaces everything else', () => {
    expect(deepMerge({ a: { b: 1, c: [1] }, d: 1 }, { a: { c: [2] }, e: null })).toEqual({
      a: { b: 1, c: [2] },
      d: 1,
      e: null,
    });
  });

  it('merges parameters by name and place', () => {
    const base = {
      parameters: [
        { name: 'id', in: 'path', required: true },
        { name: 'where', in: 'query' },
      ],
    };
    const over = {
      parameters: [
        { name: 'id', in: 'query' },
        { name: 'where', in: 'query', description: 'Filter' },
      ],
    };
    expect(deepMerge(base, over)).toEqual({
      parameters: [
        { name: 'id', in: 'path', required: true },
        { name: 'where', in: 'query', description: 'Filter' },
        { name: 'id', in: 'query' },
      ],
    });
  });

  it('leaves nothing beside a reference', () => {
    expect(deepMerge({ $ref: '#/a' }, { description: 'own' })).toEqual({ description: 'own' });
    expect(deepMerge({ description: 'own' }, { $ref: '#/a' })).toEqual({ $ref: '#/a' });
  });

  it('changes neither of the two', () => {
    const base = Object.freeze({ a: Object.freeze({ b: 1 }) });
    expect(deepMerge(base, { a: { c: 2 } })).toEqual({ a: { b: 1, c: 2 } });
    expect(base).toEqual({ a: { b: 1 } });
  });
});
