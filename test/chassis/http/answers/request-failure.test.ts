import request from 'supertest';
import { describe, expect, it } from 'vitest';
import {
  DatabaseUnavailableException,
  InternalServerErrorException,
} from '../../../../src/chassis/errors/exceptions.ts';
import { onRequestFailure, unlessStored } from '../../../../src/chassis/http/answers/request-failure.ts';
import { bareApp } from '../bare-app.ts';

describe('onRequestFailure', () => {
  it('undoes what the failed request has done, last first', async () => {
    const undone: string[] = [];
    const done = Promise.withResolvers<void>();
    const app = bareApp([
      (req) => {
        onRequestFailure(req, async () => {
          undone.push('first');
          done.resolve();
        });
        onRequestFailure(req, async () => {
          undone.push('second');
        });
        throw new InternalServerErrorException();
      },
    ]);
    await request(app).get('/');
    await done.promise;
    expect(undone).toEqual(['second', 'first']);
  });

  it('undoes nothing where only the answer came too late, because what was written may refer to it', async () => {
    const undone: string[] = [];
    const failed = Promise.withResolvers<void>();
    const app = bareApp(
      [
        (req, res) => {
          onRequestFailure(req, async () => void undone.push('kept by what was written'));
          res.status(503).json({});
          res.json({});
        },
      ],
      { reporters: [{ report: () => failed.resolve() }] },
    );
    await request(app).get('/').expect(503);
    await failed.promise;
    expect(undone).toEqual([]);
  });
});

describe('unlessStored', () => {
  it.each([
    ['removes the file where the database took no statement', false, ['file']],
    [
      'leaves the file where the answer of the database was lost, because the row that was written may refer to it',
      true,
      [],
    ],
  ])('%s', async (_what, mayBeStored, removed) => {
    const undone: string[] = [];
    const done = Promise.withResolvers<void>();
    const app = bareApp([
      (req) => {
        onRequestFailure(req, async () => done.resolve());
        onRequestFailure(
          req,
          unlessStored(async () => void undone.push('file')),
        );
        throw new DatabaseUnavailableException(undefined, undefined, { mayBeStored });
      },
    ]);
    await request(app).get('/').expect(503);
    await done.promise;
    expect(undone).toEqual(removed);
  });
});
