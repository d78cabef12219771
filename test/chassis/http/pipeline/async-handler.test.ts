import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { ConflictException } from '../../../../src/chassis/errors/exceptions.ts';
import { asyncHandler } from '../../../../src/chassis/http/pipeline/async-handler.ts';
import { bareApp, echoBody, throwing } from '../bare-app.ts';

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
