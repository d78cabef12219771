import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ForbiddenException, UnauthorizedException } from '../../../src/chassis/errors/exceptions.ts';
import { authorizeOperator } from '../../../src/chassis/internal/authorize-operator.ts';

const token = 'sixteen letters!';

function from(remoteAddress: string | undefined, authorization?: string, host = 'localhost:9464'): IncomingMessage {
  return { socket: { remoteAddress }, headers: { authorization, host } } as unknown as IncomingMessage;
}

describe('authorizeOperator', () => {
  it.each(['127.0.0.1', '::1', '::ffff:127.0.0.1'])('lets a call from %s change things without a token', (address) => {
    expect(() => authorizeOperator(from(address), undefined)).not.toThrow();
  });

  it.each(['10.0.0.7', '::ffff:10.0.0.7', 'fe80::1', '127.0.0.6', undefined])('refuses one from %s', (address) => {
    expect(() => authorizeOperator(from(address), undefined)).toThrow(ForbiddenException);
    expect(() => authorizeOperator(from(address, `Bearer ${token}`), undefined)).toThrow(ForbiddenException);
  });

  it.each(['localhost', '127.0.0.1:9464', '[::1]:9464', '[::ffff:127.0.0.1]'])('lets one that calls it %s', (host) => {
    expect(() => authorizeOperator(from('127.0.0.1', undefined, host), undefined)).not.toThrow();
  });

  it.each(['evil.example:9464', 'localhost.evil.example', '127.0.0.1.evil.example', 'localhost@evil.example', ''])(
    'refuses one that calls it %j, as the page of a site does whose name leads here',
    (host) => {
      expect(() => authorizeOperator(from('127.0.0.1', undefined, host), undefined)).toThrow(ForbiddenException);
      expect(() => authorizeOperator(from('127.0.0.1', `Bearer ${token}`, host), token)).not.toThrow();
    },
  );

  it('asks everybody for the token where one is set', () => {
    expect(() => authorizeOperator(from('10.0.0.7', `Bearer ${token}`), token)).not.toThrow();
    for (const wrong of [undefined, '', token, `Bearer ${token}x`, `Basic ${token}`]) {
      expect(() => authorizeOperator(from('127.0.0.1', wrong), token)).toThrow(UnauthorizedException);
    }
  });
});
