import type { RequestHandler } from 'express';
import { describe, expect, it } from 'vitest';
import { docsOf, documented } from '../../../src/chassis/openapi/documented.ts';

const guard: RequestHandler = (_request, _response, next) => next();

describe('documented', () => {
  it('gives back the handler itself, with what it says of itself', () => {
    const own: RequestHandler = (_request, _response, next) => next();
    expect(documented(own, { security: ['bearer'], statuses: [401] })).toBe(own);
    expect(docsOf([own])).toMatchObject({ security: ['bearer'], statuses: [401] });
  });

  it('joins what several handlers say, without repeating', () => {
    const token = documented(guard.bind(null), { security: ['bearer'], statuses: [401] });
    const role = documented(guard.bind(null), { security: ['bearer'], statuses: [401, 403] });
    expect(docsOf([token, guard, role])).toMatchObject({ security: ['bearer'], statuses: [401, 403] });
  });
});
