import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { toException } from '../../../src/chassis/errors/convert-error.ts';
import {
  BadRequestException,
  BaseException,
  ConflictException,
  InternalServerErrorException,
} from '../../../src/chassis/errors/exceptions.ts';

const hostile: ProxyHandler<object> = new Proxy(
  {},
  {
    get: () => () => {
      throw new Error('trapped');
    },
  },
);

/** As http-errors makes them: `expose` says whether the client may read the message. */
function createError(status: number, what: string | Error, fields: object = {}): Error {
  const error = what instanceof Error ? what : new Error(what);
  return Object.assign(error, { status, statusCode: status, expose: status < 500 }, fields);
}

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe('toException', () => {
  it('gives an exception with a failure status for any value, and never throws', () => {
    const errors = fc.record(
      {
        status: fc.anything(),
        statusCode: fc.anything(),
        expose: fc.anything(),
        type: fc.anything(),
        code: fc.anything(),
        headers: fc.anything(),
      },
      { requiredKeys: [] },
    );
    const values = fc.oneof(
      fc.anything({ withNullPrototype: true, withBigInt: true }),
      errors.map((fields) => Object.assign(new Error('x'), fields)),
    );
    fc.assert(
      fc.property(values, (value) => {
        const exception = toException(value);
        expect(exception).toBeInstanceOf(BaseException);
        expect(exception.statusCode).toBeGreaterThanOrEqual(400);
        expect(exception.statusCode).toBeLessThanOrEqual(599);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['null', null],
    ['undefined', undefined],
    ['a symbol', Symbol('s')],
    ['a frozen object', Object.freeze({})],
    ['a frozen error', Object.freeze(new Error('frozen'))],
    ['a proxy whose every trap throws', new Proxy(new Error('p'), hostile)],
    ['a proxy of a function', new Proxy(() => undefined, hostile)],
    ['a revoked proxy', revokedProxy()],
    [
      'an error whose message throws',
      Object.defineProperty(new Error(), 'message', {
        get: () => {
          throw new Error('no');
        },
      }),
    ],
    [
      'an error whose stack throws',
      Object.defineProperty(new Error(), 'stack', {
        get: () => {
          throw new Error('no');
        },
      }),
    ],
    [
      'an error that is its own cause',
      (() => {
        const e = new Error('loop');
        e.cause = e;
        return e;
      })(),
    ],
  ])('takes %s for an unexpected fault', (_what, value) => {
    expect(toException(value)).toMatchObject({ statusCode: 500, isOperational: false });
  });

  it('gives an exception back as it is', () => {
    const exception = new ConflictException('taken');
    expect(toException(exception)).toBe(exception);
  });

  it('keeps an unknown error as the cause, with its message and stack', () => {
    const error = new Error('the pump is dry');
    const exception = toException(error);
    expect(exception).toBeInstanceOf(InternalServerErrorException);
    expect(exception).toMatchObject({ message: 'the pump is dry', cause: error, isOperational: false });
    expect(exception.stack).toContain(`Caused by: ${error.stack}`);
  });

  it('refuses to answer a failure with the status of a success', () => {
    const exception = new BaseException('odd', 200);
    expect(toException(exception)).toMatchObject({ statusCode: 500, isOperational: false, cause: exception });
  });

  it('asks the given converters first', () => {
    const error = z.string().safeParse(1).error;
    const converted = new ConflictException('mine');
    expect(toException(error, [() => undefined, () => converted])).toBe(converted);
  });

  it('survives a converter that throws and keeps both errors', () => {
    const error = new Error('first');
    const failure = new Error('second');
    const exception = toException(error, [
      () => {
        throw failure;
      },
    ]);
    expect(exception.statusCode).toBe(500);
    expect((exception.cause as AggregateError).errors).toEqual([error, failure]);
  });

  it('turns a zod error into 400 Invalid request data with paths and messages', () => {
    const { error } = z.object({ a: z.object({ b: z.string() }) }).safeParse({ a: { b: 1 } });
    const exception = toException(error);
    expect(exception).toBeInstanceOf(BadRequestException);
    expect(exception).toMatchObject({
      message: 'Invalid request data',
      details: { issues: [{ path: 'a.b', message: 'Invalid input: expected string, received number' }] },
      cause: error,
    });
  });

  it.each([
    [404, 'NotFoundException'],
    [401, 'UnauthorizedException'],
    [403, 'ForbiddenException'],
    [413, 'PayloadTooLargeException'],
    [415, 'UnsupportedMediaTypeException'],
    [418, 'BaseException'],
  ])('keeps the status %i of http-errors', (status, name) => {
    expect(toException(createError(status, 'why'))).toMatchObject({ name, statusCode: status, message: 'why' });
  });

  it('takes a 5xx of http-errors for an unexpected fault', () => {
    expect(toException(createError(502, 'upstream'))).toMatchObject({ statusCode: 500, isOperational: false });
  });

  it('takes an error of an HTTP client for an unexpected fault, though it has a status', () => {
    const error = Object.assign(new Error('Request failed'), { status: 404, response: {} });
    expect(toException(error)).toMatchObject({ statusCode: 500, isOperational: false });
  });

  it('does not tell a text that is not for the client', () => {
    expect(toException(createError(404, "no '/srv/secret'", { expose: false }))).toMatchObject({
      statusCode: 404,
      message: 'Not Found',
    });
  });

  it('does not tell the text of system errors, which hold paths', () => {
    const error = createError(404, Object.assign(new Error("ENOENT: '/srv/secret'"), { code: 'ENOENT' }));
    expect(toException(error).message).toBe('Not Found');
  });

  it('drops the raw body that body-parser attaches to its errors', () => {
    const error = createError(400, new SyntaxError('bad'), {
      body: '{"password": hunter2',
      type: 'entity.parse.failed',
    });
    expect(toException(error).cause).not.toHaveProperty('body');
  });
});
