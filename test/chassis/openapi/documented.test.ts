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

  it('names a guard that refuses some callers by its function, unless it says whom or asks for scopes', () => {
    const ownsBasket: RequestHandler = (_request, _response, next) => next();
    const ownsShelf: RequestHandler = (_request, _response, next) => next();
    const reads: RequestHandler = (_request, _response, next) => next();
    const handlers = [
      documented(ownsBasket, { security: ['bearer'], statuses: [401, 403] }),
      documented(ownsShelf, { security: ['bearer'], statuses: [401, 403], needs: ['owner of the shelf'] }),
      documented(reads, { security: ['bearer'], statuses: [401, 403], scopes: ['shelves:read'] }),
      documented((_request, _response, next) => next(), { security: ['bearer'], statuses: [403] }),
      documented(guard.bind(null), { statuses: [403] }),
      documented(guard.bind(null), { needs: ['a signature'] }),
    ];
    expect(docsOf(handlers).needs).toEqual(['guard ownsBasket', 'owner of the shelf', 'a signature']);
  });
});
