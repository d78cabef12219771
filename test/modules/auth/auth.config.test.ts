import { readEnvironment } from 'slipway';
import { describe, expect, it } from 'vitest';
import { authSettings } from '../../../src/modules/auth/auth.config.ts';

const read = (variables: Record<string, string>) => readEnvironment(authSettings, variables);
const production = { NODE_ENV: 'production', DATABASE_URL: 'file:./test.db', CURSOR_SECRET: 'x'.repeat(32) };

describe('the settings of auth', () => {
  it('have a secret of their own at each start, outside production', () => {
    const [first, second] = [read({}).AUTH_JWT_SECRET, read({ NODE_ENV: 'test' }).AUTH_JWT_SECRET];
    expect(Buffer.byteLength(first)).toBeGreaterThanOrEqual(32);
    expect(first).not.toBe(second);
  });

  it('require a secret in production', () => {
    expect(() => read(production)).toThrow(/AUTH_JWT_SECRET: expected a value, because NODE_ENV is production/);
    expect(read({ ...production, AUTH_JWT_SECRET: 'x'.repeat(32) }).AUTH_JWT_SECRET).toBe('x'.repeat(32));
  });

  it('refuse a secret below 32 bytes without repeating it', () => {
    const secret = 'too-short-a-secret';
    expect(() => read({ AUTH_JWT_SECRET: secret })).toThrow(/AUTH_JWT_SECRET: expected at least 32 bytes/);
    expect(() => read({ AUTH_JWT_SECRET: secret })).not.toThrow(new RegExp(secret));
  });

  it('bound the life of tokens', () => {
    expect(read({})).toMatchObject({ AUTH_ACCESS_TOKEN_TTL_SECONDS: 900, AUTH_REFRESH_TOKEN_TTL_DAYS: 30 });
    expect(() => read({ AUTH_ACCESS_TOKEN_TTL_SECONDS: '86400' })).toThrow(/AUTH_ACCESS_TOKEN_TTL_SECONDS/);
    expect(() => read({ AUTH_REFRESH_TOKEN_TTL_DAYS: '0' })).toThrow(/AUTH_REFRESH_TOKEN_TTL_DAYS/);
    expect(read({})).toMatchObject({ AUTH_SESSION_MAX_DAYS: 90, AUTH_REAUTHENTICATE_MINUTES: 15 });
    expect(() => read({ AUTH_SESSION_MAX_DAYS: '0' })).toThrow(/AUTH_SESSION_MAX_DAYS/);
    expect(() => read({ AUTH_REAUTHENTICATE_MINUTES: '1441' })).toThrow(/AUTH_REAUTHENTICATE_MINUTES/);
  });
});
