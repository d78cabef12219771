import { describe, expect, it } from 'vitest';
import { maskInLogs, redact, redactUrl } from '../../../src/chassis/telemetry/redact.ts';

describe('redactUrl', () => {
  it.each([
    ['/x?token=abc&page=2', '/x?token=[redacted]&page=2'],
    ['/x?page=2&access_token=abc#f', '/x?page=2&access_token=[redacted]#f'],
    ['/x?code=1&country_code=de', '/x?code=[redacted]&country_code=de'],
    ['/x?sort=author&API-KEY=k', '/x?sort=author&API-KEY=[redacted]'],
    ['http://user:word@host/x', 'http://[redacted]@host/x'],
    ['/tokens/7', '/tokens/7'],
    ['/x?%70assword=a&page=1', '/x?%70assword=[redacted]&page=1'],
    ['/x?where={"refreshToken":"a"}', '/x?where=[redacted]'],
    ['/x?where=%7B%22refresh%54oken%22%3A%22a%22%7D', '/x?where=[redacted]'],
    ['/x?where={"name":"a"}&page', '/x?where={"name":"a"}&page'],
    ['/x?a=%zz', '/x?a=%zz'],
  ])('masks %s as %s', (url, masked) => {
    expect(redactUrl(url)).toBe(masked);
  });
});

it.each(['?token', '?', '=', '&a=', '%', '{"', 'passw', '//@'])(
  'redactUrl takes time in proportion to a text of %j',
  (unit) => {
    const started = performance.now();
    redactUrl(`/x?${unit.repeat(100_000)}`);
    redactUrl(unit.repeat(100_000));
    expect(performance.now() - started).toBeLessThan(500);
  },
);

describe('redact', () => {
  it('gives back the same object where nothing is secret', () => {
    const line = { a: 1, b: { c: [1] } };
    expect(redact(line)).toBe(line);
  });

  it('masks in lists and in instances of classes', () => {
    class Account {
      password = 'p';
    }
    const line = redact({ users: [{ token: 't' }, new Account()], tokens: ['a'], times: [new Date(0)] });
    expect(line).toEqual({
      users: [{ token: '[redacted]' }, { password: '[redacted]' }],
      tokens: '[redacted]',
      times: [new Date(0)],
    });
  });

  it('masks what a module names, in URLs too', () => {
    maskInLogs('iban', 'Phone');
    expect(redact({ customer: { IBAN: 'x', phone: 'y', phones: 1 } })).toEqual({
      customer: { IBAN: '[redacted]', phone: '[redacted]', phones: 1 },
    });
    expect(redactUrl('/x?iban=1&b=2')).toBe('/x?iban=[redacted]&b=2');
  });

  it('ends on a cycle', () => {
    const line: Record<string, unknown> = { password: 'x' };
    line.self = line;
    expect(redact(line).password).toBe('[redacted]');
  });
});
