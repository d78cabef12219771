import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ForbiddenException, UnauthorizedException } from '../../../src/chassis/errors/exceptions.ts';
import { authorizeOperator } from '../../../src/chassis/internal/authorize-operator.ts';

const token = 'sixteen letters!';

function from(remoteAddress: string | undefined, authorization?: string): IncomingMessage {
  return { socket: { remoteAddress }, headers: { authorization } } as unknown as IncomingMessage;
}

describe('authorizeOperator', () => {
  it.each(['127.0.0.1', '::1', '::ffff:127.0.0.1'])('lets a call from %s change things without a token', (address) => {
    expect(() => authorizeOperator(from(address), undefined)).not.toThrow();
  });

  it.each(['10.0.0.7', '::ffff:10.0.0.7', 'fe80::1', '127.0.0.6', undefined])('refuses one from %s', (address) => {
    expect(() => authorizeOperator(from(address), undefined)).toThrow(ForbiddenException);
    expect(() => authorizeOperator(from(address, `Bearer ${token}`), undefined)).toThrow(ForbiddenException);
  });

  it('asks everybody for the token where one is set', () => {
    expect(() => authorizeOperator(from('10.0.0.7', `Bearer ${token}`), token)).not.toThrow();
    for (const wrong of [undefined, '', token, `Bearer ${token}x`, `Basic ${token}`]) {
      expect(() => authorizeOperator(from('127.0.0.1', wrong), token)).toThrow(UnauthorizedException);
    }
  });
});
