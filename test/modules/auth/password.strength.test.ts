import { describe, expect, it } from 'vitest';
import common from '../../../src/modules/auth/common-passwords.json' with { type: 'json' };
import { PasswordStrength } from '../../../src/modules/auth/password.strength.ts';

const strength = new PasswordStrength();
const personal = ['grace.hopper@example.com', 'Grace Hopper'];

describe('a password that is easy to guess', () => {
  it.each([
    ['is common', '1qaz2wsx3edc4rfv'],
    ['is common in another case', '1QAZ2wsx3EDC4rfv'],
    ['is a common one with digits and signs around it', 'Password2024!!'],
    ['is a common one twice', 'qwertyqwerty'],
    ['is two common ones', 'dragonsunshine!'],
    ['is one character', 'xxxxxxxxxxxxxxxx'],
    ['repeats a few characters', 'x7qx7qx7qx7qx7q'],
    ['is the e-mail address', 'grace.hopper@example.com1'],
    ['is a name of the account and a year', 'hopper-12.1906'],
    ['is the name in full-width letters', '\uff48\uff4f\uff50\uff50\uff45\uff52123456'],
  ])('%s', (_why, password) => {
    expect(strength.isGuessable(password, personal)).toBe(true);
  });

  it.each(['correct horse battery', 'blue cat sings', 'kX9#mQ2$vL7p', 'Tr0ub4dor&3xyz', 'hopper likes her tea'])(
    'is not %s',
    (password) => {
      expect(strength.isGuessable(password, personal)).toBe(false);
    },
  );

  it('is each one of the list that is long enough for an account', () => {
    const long = common.passwords.split(' ').filter(({ length }) => length >= 12);
    expect(long.length).toBeGreaterThan(300);
    expect(long.filter((password) => !strength.isGuessable(password, []))).toEqual([]);
  });

  it('is told in bounded time, however long password and name are', () => {
    const [password, name] = ['kX9#mQ2vL7pz'.repeat(11).slice(0, 128), 'a b '.repeat(25)];
    const start = performance.now();
    for (let round = 0; round < 20; round += 1)
      strength.isGuessable(password, [name, `${'a'.repeat(240)}@example.com`]);
    expect((performance.now() - start) / 20).toBeLessThan(20);
  });
});
