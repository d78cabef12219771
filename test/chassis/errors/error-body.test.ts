import { describe, expect, it } from 'vitest';
import { errorBody } from '../../../src/chassis/errors/error-body.ts';
import {
  BadRequestException,
  DatabaseException,
  DatabaseUnavailableException,
  ValidationException,
} from '../../../src/chassis/errors/exceptions.ts';

describe('errorBody', () => {
  it('holds success, message, statusCode and timestamp, and no details where there are none', () => {
    const exception = new BadRequestException('no');
    expect(errorBody(exception, false)).toStrictEqual({
      success: false,
      message: 'no',
      statusCode: 400,
      timestamp: exception.timestamp.toISOString(),
    });
  });

  it('holds the details of an exception that has some, also when they are falsy', () => {
    expect(errorBody(new BadRequestException('no', { a: 1 }), true).details).toEqual({ a: 1 });
    expect(errorBody(new BadRequestException('no', 0), true).details).toBe(0);
  });

  it('hides message and details of 500 and above in production', () => {
    for (const exception of [
      new DatabaseException('host 10.0.0.3', { sql: 'x' }),
      new DatabaseUnavailableException(),
    ]) {
      const body = errorBody(exception, true);
      expect(body.message).toBe('Internal Server Error');
      expect(body.statusCode).toBe(exception.statusCode);
      expect(body).not.toHaveProperty('details');
    }
  });

  it('shows message and details of 500 and above elsewhere', () => {
    expect(errorBody(new DatabaseException('host', { sql: 'x' }), false)).toMatchObject({
      message: 'host',
      details: { sql: 'x' },
    });
  });

  it('leaves out context, cause and stack', () => {
    const exception = new ValidationException({ name: ['too long'] }, undefined, {
      context: { a: 1 },
      cause: new Error(),
    });
    expect(Object.keys(errorBody(exception, false))).toEqual([
      'success',
      'message',
      'statusCode',
      'timestamp',
      'details',
    ]);
  });
});
