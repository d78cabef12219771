import { describe, expect, it } from 'vitest';
import { demoPassword } from '../../../prisma/seed.ts';
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
    ['is a common one with diacritics', 'P\u00e4sswo\u0308rd2024!'],
    ['is the alphabet', 'abcdefghijkl'],
    ['is the end of the alphabet, backwards', 'zyxwvutsrqpo'],
    ['is a run across the end of the alphabet and digits', 'wxyzabcd67890123'],
    ['is a run of pairs', 'aabbccddeeffgg'],
    ['is a row of digits', '111111111111'],
    ['is a row of a keyboard', 'asdfghjkl;asdfghjkl'],
    ['is two rows of a German keyboard', 'qwertzuiopyxcvbnm'],
    ['is two runs by turns', 'm1n2o3p4q5r6s7'],
    ['is that of the sample accounts', demoPassword],
    ['is that of the sample accounts with a year', `${demoPassword.replaceAll('-', '')}2026`],
    ['is the local part of the e-mail address without its dot', 'GraceHopper-1906'],
    ['is name and address', 'hopper.grace@example'],
    ['is a common one beside the name', 'hopperpassword1'],
    ['is the name in full-width letters', '\uff48\uff4f\uff50\uff50\uff45\uff52123456'],
  ])('%s', (_why, password) => {
    expect(strength.isGuessable(password, personal)).toBe(true);
  });

  it.each([
    'correct horse battery',
    'blue cat sings',
    'kX9#mQ2$vL7p',
    'abcd efgh sings',
    '\u00fcber allen gipfeln',
    'Tr0ub4dor&3xyz',
    'hopper likes her tea',
  ])('is not %s', (password) => {
    expect(strength.isGuessable(password, personal)).toBe(false);
  });

  it('is one with a short name in it', () => {
    expect(strength.isGuessable('adaada123456', ['ada@example.com', 'Ada'])).toBe(true);
  });

  it('is each one of the list that is long enough for an account', () => {
    const long = common.passwords.split(' ').filter(({ length }) => length >= 12);
    expect(long.length).toBeGreaterThan(300);
    expect(long.filter((password) => !strength.isGuessable(password, []))).toEqual([]);
  });

  it.each([
    ['long password and name are', 'kX9#mQ2vL7pz'.repeat(11).slice(0, 128)],
    ['much each of its letters becomes without its form', '\ufdfa'.repeat(128)],
  ])('is told in bounded time, however %s', (_however, password) => {
    const name = 'a b '.repeat(25);
    const start = performance.now();
    for (let round = 0; round < 20; round += 1)
      strength.isGuessable(password, [name, `${'a'.repeat(240)}@example.com`]);
    expect((performance.now() - start) / 20).toBeLessThan(6);
  });
});
