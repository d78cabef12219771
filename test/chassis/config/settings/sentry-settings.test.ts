import { describe, expect, it } from 'vitest';
import { type ConfigurationError, readEnvironment } from '../../../../src/chassis/config/environment.ts';

/** The problems of a configuration with these variables. */
function problemsOf(variables: Record<string, string>): readonly string[] {
  try {
    readEnvironment({}, variables);
  } catch (error) {
    return (error as ConfigurationError).problems;
  }
  return [];
}

describe('SENTRY_DSN', () => {
  it.each([
    'https://0123456789abcdef@o1.ingest.sentry.io/42',
    'http://public:secret@localhost:9000/1',
    'https://key@sentry.example/below/a/path/7',
    'https://key@[::1]:8000/7',
  ])('may be %s', (dsn) => {
    expect(readEnvironment({}, { SENTRY_DSN: dsn }).SENTRY_DSN).toBe(dsn);
  });

  it.each([
    'sentry.io/42',
    'https://o1.ingest.sentry.io/42',
    'https://key@o1.ingest.sentry.io',
    'https://key@o1.ingest.sentry.io/project',
    'ftp://key@o1.ingest.sentry.io/42',
    'https://key@o1.ingest.sentry.io/42 ',
  ])('stops the start as %s, without telling it', (dsn) => {
    const [problem, ...others] = problemsOf({ SENTRY_DSN: dsn });
    expect(problem).toMatch(/^SENTRY_DSN: expected https:\/\/<public key>@<host>\/<project number>/);
    expect(problem).not.toContain(dsn.trim());
    expect(others).toEqual([]);
  });
});

describe('the other settings of Sentry', () => {
  it('take NODE_ENV as the environment', () => {
    expect(readEnvironment({}, { NODE_ENV: 'test' }).SENTRY_ENVIRONMENT).toBe('test');
    expect(readEnvironment({}, { NODE_ENV: 'test', SENTRY_ENVIRONMENT: 'qa-2' }).SENTRY_ENVIRONMENT).toBe('qa-2');
  });

  it.each(['0', '0.25', '.5', '1', '1.0'])('sample at %s', (rate) => {
    expect(readEnvironment({}, { SENTRY_SAMPLE_RATE: rate }).SENTRY_SAMPLE_RATE).toBe(Number(rate));
  });

  it.each([
    ['SENTRY_SAMPLE_RATE', '1.5'],
    ['SENTRY_SAMPLE_RATE', '-0.1'],
    ['SENTRY_SAMPLE_RATE', '10%'],
    ['SENTRY_ENVIRONMENT', 'a/b'],
    ['SENTRY_ENVIRONMENT', 'None'],
    ['SENTRY_RELEASE', 'two words'],
    ['SENTRY_RELEASE', '..'],
    ['SENTRY_SEND_CLIENT_ADDRESS', 'maybe'],
  ])('stop the start with %s=%s', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringMatching(`^${name}: expected`)]);
  });
});
