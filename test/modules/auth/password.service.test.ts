import { ServiceUnavailableException, ValidationException } from 'slipway';
import { describe, expect, it } from 'vitest';
import { PasswordService } from '../../../src/modules/auth/password.service.ts';

const account = { personal: ['ada@example.com', 'Ada'] };
const [one, two, three, four] = [
  'first horse battery',
  'second horse battery',
  'third horse battery',
  'fourth horse battery',
];

describe('PasswordService', () => {
  it('refuses work beyond its queue at once, and takes work again afterwards', async () => {
    const passwords = new PasswordService({}, { atOnce: 1, queueLength: 1 });
    const results = await Promise.allSettled([one, two, three].map((password) => passwords.hash(password, account)));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    const refusal = (results[2] as PromiseRejectedResult).reason;
    expect(refusal).toBeInstanceOf(ServiceUnavailableException);
    expect(refusal.headers).toEqual({ 'Retry-After': '1' });
    expect(await passwords.hash(four, account)).toMatch(/^\$argon2id\$/);
  });

  it('frees its place when a computation fails', async () => {
    const passwords = new PasswordService({}, { atOnce: 1, queueLength: 0 });
    await expect(passwords.verify(undefined as unknown as string, undefined)).rejects.toThrow(TypeError);
    expect(await passwords.hash(one, account)).toMatch(/^\$argon2id\$/);
  });

  it('hashes no password that is easy to guess, and names the field that brought it', async () => {
    const refusal = new PasswordService().hash('password2024!', { ...account, field: 'newPassword' });
    await expect(refusal).rejects.toThrow(ValidationException);
    await expect(refusal).rejects.toMatchObject({
      details: { errors: { newPassword: ['Expected a password that is not easy to guess'] } },
    });
  });
});
