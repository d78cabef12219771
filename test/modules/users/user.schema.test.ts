import { describe, expect, it } from 'vitest';
import { register } from '../../../src/modules/auth/auth.schema.ts';
import { createUser } from '../../../src/modules/users/user.schema.ts';

const good = { email: 'ada@example.com', name: 'Ada', password: 'correct horse battery' };

describe('a new user', () => {
  it.each([
    [good, true],
    [{ ...good, email: ' ADA@Example.com ' }, true],
    [{ ...good, email: 'ada' }, false],
    [{ ...good, email: `${'a'.repeat(250)}@example.com` }, false],
    [{ ...good, password: 'x'.repeat(11) }, false],
    [{ ...good, password: 'x'.repeat(12) }, true],
    [{ ...good, password: 'x'.repeat(128) }, true],
    [{ ...good, password: 'x'.repeat(129) }, false],
    [{ ...good, name: ' ' }, false],
    [{ ...good, name: 'x'.repeat(101) }, false],
    [{ ...good, name: 'a\u0000b' }, false],
    [{ ...good, name: 'a\u202enimda' }, false],
    [{ ...good, name: 'a\u2066nimda' }, false],
    [{ ...good, name: '\u200fa' }, false],
    [{ ...good, name: 'a\u2028b' }, false],
    [{ ...good, name: '\u115f' }, false],
    [{ ...good, name: '\u3164\uffa0 \u200b' }, false],
    [{ ...good, name: '\u200d\u2060\ufe0f' }, false],
    [{ ...good, name: '\u2800' }, false],
    [{ ...good, name: '\u0301' }, false],
    [{ ...good, name: '\u{e0041}' }, false],
    [{ ...good, name: '한\u3164' }, true],
    [{ ...good, name: '👩\u200d💻' }, true],
    [{ ...good, name: 'مريم \ud83d\ude00' }, true],
  ])('passes the same bounds by registration and by an administrator: %j', (body, accepted) => {
    expect(register.safeParse(body).success).toBe(accepted);
    expect(createUser.safeParse(body).success).toBe(accepted);
  });

  it('has its address trimmed and in lower case', () => {
    const body = { ...good, email: ' ADA@Example.com ' };
    expect(register.parse(body).email).toBe('ada@example.com');
    expect(createUser.parse(body).email).toBe('ada@example.com');
  });

  it('has an address checked in bounded time, however long', () => {
    const start = performance.now();
    expect(register.safeParse({ ...good, email: `${'a.'.repeat(500_000)}@` }).success).toBe(false);
    expect(performance.now() - start).toBeLessThan(500);
  });
});
