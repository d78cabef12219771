import { describe, expect, it } from 'vitest';
import {
  BadRequestException,
  BaseException,
  BusinessException,
  ConflictException,
  DatabaseException,
  ForbiddenException,
  InternalServerErrorException,
  NotFoundException,
  UnauthorizedException,
  ValidationException,
} from '../../src/chassis/index.ts';

describe('spec.md: Exception classes', () => {
  it.each([
    [BadRequestException, 400, 'Bad Request'],
    [UnauthorizedException, 401, 'Unauthorized'],
    [ForbiddenException, 403, 'Forbidden'],
    [NotFoundException, 404, 'Not Found'],
    [ConflictException, 409, 'Conflict'],
    [InternalServerErrorException, 500, 'Internal Server Error'],
    [DatabaseException, 500, 'Database Operation Failed'],
  ])('%o has its status and default message', (Exception, statusCode, message) => {
    const exception = new Exception();
    expect(exception).toMatchObject({ statusCode, message, name: Exception.name });
    expect(exception).toBeInstanceOf(BaseException);
  });

  it('InternalServerErrorException is never operational', () => {
    expect(new InternalServerErrorException('x', undefined, { isOperational: true }).isOperational).toBe(false);
  });

  it('DatabaseException extends InternalServerErrorException and is operational by default', () => {
    expect(new DatabaseException()).toBeInstanceOf(InternalServerErrorException);
    expect(new DatabaseException().isOperational).toBe(true);
    expect(new DatabaseException('x', undefined, { isOperational: false }).isOperational).toBe(false);
  });

  it('ValidationException extends BadRequestException and holds the map of errors in details', () => {
    const exception = new ValidationException({ name: ['too short'] });
    expect(exception).toBeInstanceOf(BadRequestException);
    expect(exception).toMatchObject({ statusCode: 400, message: 'Validation Failed' });
    expect(exception.details).toEqual({ errors: { name: ['too short'] } });
    expect(new ValidationException({}, 'Other text').message).toBe('Other text');
  });

  it('BusinessException extends BadRequestException and wants a message', () => {
    expect(new BusinessException('no more than ten')).toBeInstanceOf(BadRequestException);
    expect(new BusinessException('no more than ten')).toMatchObject({ statusCode: 400, message: 'no more than ten' });
  });

  it('all take details, a cause and a context', () => {
    const cause = new Error('the reason');
    const exception = new NotFoundException('gone', { id: 7 }, { cause, context: { tried: 2 } });
    expect(exception).toMatchObject({ details: { id: 7 }, context: { tried: 2 }, cause });
  });
});

describe('spec.md: Exception record', () => {
  it('chains the cause into the stack trace', () => {
    const cause = new BadRequestException('inner', undefined, { cause: new Error('innermost') });
    const { stack } = new NotFoundException('outer', undefined, { cause });
    expect(stack).toMatch(/outer[\s\S]*Caused by: .*inner[\s\S]*Caused by: .*innermost/);
  });

  it('is operational and has the moment of its creation', () => {
    const before = Date.now();
    const exception = new NotFoundException();
    expect(exception.isOperational).toBe(true);
    expect(exception.timestamp.getTime()).toBeGreaterThanOrEqual(before);
  });

  it('serializes context only when present and isOperational only when it is false', () => {
    const plain = new NotFoundException('gone', { id: 7 });
    expect(JSON.parse(JSON.stringify(plain))).toEqual({
      name: 'NotFoundException',
      message: 'gone',
      statusCode: 404,
      timestamp: plain.timestamp.toISOString(),
      details: { id: 7 },
    });
    const fault = new InternalServerErrorException('broken', undefined, { context: { step: 1 } });
    expect(JSON.parse(JSON.stringify(fault))).toEqual({
      name: 'InternalServerErrorException',
      message: 'broken',
      statusCode: 500,
      timestamp: fault.timestamp.toISOString(),
      context: { step: 1 },
      isOperational: false,
    });
  });
});
