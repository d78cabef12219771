import { ServiceUnavailableException, ValidationException } from 'slipway';
import { describe, expect, it } from 'vitest';
import { PasswordService } from '../../../src/modules/auth/password.service.ts';

const account = { personal: ['ada@example.com', 'Ada'] };
const [one, two, three] = ['first horse battery', 'second horse battery', 'third horse battery'];

describe('PasswordService', () => {
  it('refuses work beyond its queue, and takes work again afterwards, also after some that failed', async () => {
    const passwords = new PasswordService({}, { cores: 1, queueLength: 1 });
    const broken = passwords.verify(undefined as unknown as string, undefined);
    const results = await Promise.allSettled([
      broken,
      ...[one, two].map((password) => passwords.hash(password, account)),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
    expect((results[0] as PromiseRejectedResult).reason).toBeInstanceOf(TypeError);
    expect((results[2] as PromiseRejectedResult).reason).toBeInstanceOf(ServiceUnavailableException);
    expect(await passwords.hash(three, account)).toMatch(/^\$argon2id\$/);
  });

  it.each([
    [1, 1],
    [2, 1],
    [3, 2],
    [16, 2],
  ])('of %i cores it uses %i, so that the event loop keeps one where there are several', async (cores, used) => {
    const passwords = new PasswordService({}, { cores, queueLength: 0 });
    const results = await Promise.allSettled([one, two, three].map((password) => passwords.hash(password, account)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(used);
  });

  it('hashes no password that is easy to guess, and names the field that brought it', async () => {
    const refusal = new PasswordService().hash('password2024!', { ...account, field: 'newPassword' });
    await expect(refusal).rejects.toThrow(ValidationException);
    await expect(refusal).rejects.toMatchObject({
      details: { errors: { newPassword: ['Expected a password that is not easy to guess'] } },
    });
  });
});
