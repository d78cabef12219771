import { describe, expect, it } from 'vitest';
import { ServiceUnavailableException } from '../../../src/chassis/index.ts';
import { PasswordService } from '../../../src/modules/auth/password.service.ts';

describe('PasswordService', () => {
  it('refuses work beyond its queue at once, and takes work again afterwards', async () => {
    const passwords = new PasswordService({}, { atOnce: 1, queueLength: 1 });
    const results = await Promise.allSettled(['one', 'two', 'three'].map((password) => passwords.hash(password)));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    const refusal = (results[2] as PromiseRejectedResult).reason;
    expect(refusal).toBeInstanceOf(ServiceUnavailableException);
    expect(refusal.headers).toEqual({ 'Retry-After': '1' });
    expect(await passwords.hash('four')).toMatch(/^\$argon2id\$/);
  });

  it('frees its place when a computation fails', async () => {
    const passwords = new PasswordService({}, { atOnce: 1, queueLength: 0 });
    await expect(passwords.hash(undefined as unknown as string)).rejects.toThrow(TypeError);
    expect(await passwords.hash('one')).toMatch(/^\$argon2id\$/);
  });
});
