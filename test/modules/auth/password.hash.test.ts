import { describe, expect, it } from 'vitest';
import { hashPassword, verifyPassword } from '../../../src/modules/auth/password.hash.ts';

describe('password hashes', () => {
  it('are argon2id PHC strings with the parameters of OWASP and a fresh salt each', async () => {
    const [first, second] = await Promise.all([
      hashPassword('correct horse battery'),
      hashPassword('correct horse battery'),
    ]);
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(first).not.toBe(second);
  });

  it('hold for the password that made them and for no other', async () => {
    const hash = await hashPassword('correct horse battery');
    expect(await verifyPassword('correct horse battery', hash)).toBe(true);
    expect(await verifyPassword('correct horse batterY', hash)).toBe(false);
    expect(await verifyPassword('', hash)).toBe(false);
  });

  it('hold for the same text in other code points', async () => {
    expect(await verifyPassword('pa\u0308sswort lang', await hashPassword('p\u00e4sswort lang'))).toBe(true);
  });

  it('of another implementation hold', async () => {
    // Made by the Argon2id of Python's cryptography 48.
    const hash = '$argon2id$v=19$m=64,t=3,p=2$c2xpcHdheS10ZXN0LXNhbHQ$hnxYk0FC/Zzmk2E2yjWeqSZKqAOzW5Cp';
    expect(await verifyPassword('password123456', hash)).toBe(true);
  });

  it.each([
    ['is empty', ''],
    ['is a text', 'not a hash'],
    [
      'is of another algorithm',
      '$argon2i$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    ],
    [
      'asks for a gibibyte',
      '$argon2id$v=19$m=999999,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    ],
    [
      'asks for 99 passes',
      '$argon2id$v=19$m=64,t=99,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    ],
    [
      'asks for no pass',
      '$argon2id$v=19$m=64,t=0,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    ],
    [
      'has too little memory for its lanes',
      '$argon2id$v=19$m=8,t=1,p=2$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    ],
  ])('that %s holds for nothing', async (_case, hash) => {
    expect(await verifyPassword('correct horse battery', hash)).toBe(false);
  });

  it('take the same time where there is none as for a wrong password', async () => {
    const hash = await hashPassword('correct horse battery');
    const [known, unknown]: [number[], number[]] = [[], []];
    for (let round = 0; round < 5; round += 1) {
      for (const [times, stored] of [
        [known, hash],
        [unknown, undefined],
        [unknown, 'not a hash'],
      ] as const) {
        // Of the processor, which other processes do not lengthen.
        const start = process.cpuUsage();
        expect(await verifyPassword('wrong horse battery', stored)).toBe(false);
        times.push(process.cpuUsage(start).user);
      }
    }
    const ratio = Math.min(...unknown) / Math.min(...known);
    expect(ratio).toBeGreaterThan(0.5);
    expect(ratio).toBeLessThan(2);
  });
});
