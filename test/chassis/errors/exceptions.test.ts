import { describe, expect, it } from 'vitest';
import * as exceptions from '../../../src/chassis/errors/exceptions.ts';

const { BadRequestException, BusinessException, DatabaseException } = exceptions;
const { InternalServerErrorException, NotFoundException, ValidationException } = exceptions;

describe('exceptions', () => {
  it('serialize to name, message, statusCode, timestamp and details', () => {
    const exception = new NotFoundException('gone', { id: 1 });
    expect(JSON.parse(JSON.stringify(exception))).toStrictEqual({
      name: 'NotFoundException',
      message: 'gone',
      statusCode: 404,
      timestamp: exception.timestamp.toISOString(),
      details: { id: 1 },
    });
  });

  it('serialize context only when present and isOperational only when false', () => {
    const exception = new InternalServerErrorException('x', undefined, { context: { a: 1 } });
    expect(JSON.parse(JSON.stringify(exception))).toMatchObject({ context: { a: 1 }, isOperational: false });
    expect(JSON.stringify(new BadRequestException())).not.toMatch(/context|isOperational/);
  });

  it('chain their cause into the stack', () => {
    const cause = new Error('root');
    const exception = new BadRequestException('top', undefined, { cause });
    expect(exception.cause).toBe(cause);
    expect(exception.stack).toContain(`Caused by: ${cause.stack}`);
  });

  it('of validation carry the map of fields as details.errors', () => {
    const exception = new ValidationException({ email: ['taken'] });
    expect(exception).toBeInstanceOf(BadRequestException);
    expect(exception.details).toEqual({ errors: { email: ['taken'] } });
  });

  it('of the server are never operational, of the database are unless said otherwise', () => {
    expect(new InternalServerErrorException('x', undefined, { isOperational: true }).isOperational).toBe(false);
    expect(new DatabaseException().isOperational).toBe(true);
    expect(new DatabaseException('x', undefined, { isOperational: false }).isOperational).toBe(false);
    expect(new DatabaseException()).toBeInstanceOf(InternalServerErrorException);
  });

  it('of the business are bad requests', () => {
    expect(new BusinessException('rule')).toMatchObject({
      name: 'BusinessException',
      statusCode: 400,
      message: 'rule',
    });
    expect(new BusinessException('rule')).toBeInstanceOf(BadRequestException);
  });

  it('write their stack, with that of the cause, when it is read and not before', () => {
    const before = Error.prepareStackTrace;
    let written = 0;
    Error.prepareStackTrace = (error) => `${error.message} ${++written}`;
    try {
      const exception = new BadRequestException('outer', undefined, { cause: new TypeError('inner') });
      expect(written).toBe(0);
      expect(exception.stack).toBe('outer 1\nCaused by: inner 2');
      expect(exception.stack).toBe('outer 1\nCaused by: inner 2');
      exception.stack = 'another';
      expect(exception.stack).toBe('another');
    } finally {
      Error.prepareStackTrace = before;
    }
  });
});
