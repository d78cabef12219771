import { describe, expect, it } from 'vitest';
import { redact, redactUrl } from '../../../src/chassis/telemetry/redact.ts';

describe('redactUrl', () => {
  it.each([
    ['/x?token=abc&page=2', '/x?token=[redacted]&page=2'],
    ['/x?page=2&access_token=abc#f', '/x?page=2&access_token=[redacted]#f'],
    ['/x?code=1&country_code=de', '/x?code=[redacted]&country_code=de'],
    ['/x?sort=author&API-KEY=k', '/x?sort=author&API-KEY=[redacted]'],
    ['http://user:word@host/x', 'http://[redacted]@host/x'],
    ['/tokens/7', '/tokens/7'],
  ])('masks %s as %s', (url, masked) => {
    expect(redactUrl(url)).toBe(masked);
  });
});

describe('redact', () => {
  it('gives back the same object where nothing is secret', () => {
    const line = { a: 1, b: { c: [1] } };
    expect(redact(line)).toBe(line);
  });

  it('ends on a cycle', () => {
    const line: Record<string, unknown> = { password: 'x' };
    line.self = line;
    expect(redact(line).password).toBe('[redacted]');
  });
});
