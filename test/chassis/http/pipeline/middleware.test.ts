import type { RequestHandler } from 'express';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { ConflictException } from '../../../../src/chassis/errors/exceptions.ts';
import { asyncHandler, composeMiddleware } from '../../../../src/chassis/http/pipeline/middleware.ts';
import { bareApp, echoBody, throwing } from '../bare-app.ts';

const note =
  (name: string): RequestHandler =>
  (_req, res, next) => {
    res.locals['seen'] = [...(res.locals['seen'] ?? []), name];
    next();
  };
const tell: RequestHandler = (_req, res) => void res.json(res.locals['seen'] ?? []);

describe('composeMiddleware', () => {
  it('runs the steps one after the other, and then what follows', async () => {
    const { body } = await request(bareApp([composeMiddleware([note('a'), note('b')]), note('c'), tell])).get('/');
    expect(body).toEqual(['a', 'b', 'c']);
    expect((await request(bareApp([composeMiddleware([]), tell])).get('/')).body).toEqual([]);
  });

  it('ends at a step that answers', async () => {
    const { body } = await request(bareApp([composeMiddleware([note('a'), tell, note('b')])])).get('/');
    expect(body).toEqual(['a']);
  });

  it.each<[string, RequestHandler]>([
    ['passes on', (_req, _res, next) => next(new Error('out of order'))],
    [
      'throws',
      () => {
        throw new Error('out of order');
      },
    ],
    ['rejects with', () => Promise.reject(new Error('out of order'))],
    ['rejects with, as nothing,', async () => Promise.reject(undefined)],
  ])('hands on what a step %s, to the error handler and no step between', async (_how, failing) => {
    const { status } = await request(bareApp([composeMiddleware([note('a'), failing, tell]), tell])).get('/');
    expect(status).toBe(500);
  });
});

describe('asyncHandler', () => {
  it('hands a rejection to the error handler', async () => {
    const app = bareApp([asyncHandler(async () => Promise.reject(new ConflictException('taken')))]);
    expect((await request(app).get('/')).body).toMatchObject({ statusCode: 409, message: 'taken' });
  });

  it.each([undefined, null, 0, '', 'route', 'router', 'a string'])(
    'takes %j for a failure, thrown or rejected',
    async (value) => {
      for (const handler of [throwing(value), () => Promise.reject(value)]) {
        const response = await request(bareApp([asyncHandler(handler), echoBody])).get('/');
        expect(response.status).toBe(500);
      }
    },
  );

  it('leaves a handler that answers, or passes on, alone', async () => {
    const app = bareApp([asyncHandler((_req, _res, next) => next()), asyncHandler(echoBody)]);
    expect((await request(app).get('/')).body).toEqual({ body: null });
  });
});
