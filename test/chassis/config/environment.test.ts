import { execFileSync } from 'node:child_process';
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  Configuration,
  ConfigurationError,
  environmentSchema,
  readEnvironment,
} from '../../../src/chassis/config/environment.ts';

function problemsOf(variables: Record<string, string>, moduleSettings: z.ZodRawShape = {}): readonly string[] {
  try {
    readEnvironment(moduleSettings, variables);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

function fileWith(text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'slipway-setting-')), 'value');
  writeFileSync(file, text);
  return file;
}

const secret = 'a secret of the tests, 32 letters or more';

describe('readEnvironment', () => {
  it('gives every setting its default where nothing is set', () => {
    expect(readEnvironment({}, {})).toMatchObject({
      NODE_ENV: 'development',
      PORT: 3000,
      DATABASE_URL: 'file:./data/slipway.db',
      DATABASE_MIGRATE: true,
      DATABASE_SEED: 'small',
      ENABLE_CORS: true,
      LOCAL_UPLOAD_DIR: './uploads',
      BODY_LIMIT_BYTES: 1_048_576,
    });
  });

  it('neither migrates nor seeds in production unless told to', () => {
    const settings = readEnvironment(
      {},
      { NODE_ENV: 'production', DATABASE_URL: 'postgresql://db/app', CURSOR_SECRET: secret },
    );
    expect(settings).toMatchObject({ DATABASE_MIGRATE: false, DATABASE_SEED: 'none' });
  });

  it('takes an empty variable for an unset one', () => {
    expect(readEnvironment({}, { PORT: '' }).PORT).toBe(3000);
  });

  it('refuses an empty NODE_ENV, which would make development of production', () => {
    expect(problemsOf({ NODE_ENV: '' })).toEqual(['NODE_ENV: expected development, test or production; found ""']);
  });

  it('lists every problem in one message with what was expected and found', () => {
    const read = () =>
      readEnvironment({}, { PORT: 'x', ENABLE_CORS: 'maybe', LOG_LEVEL: 'loud', DATABASE_URL: 'mysql://x' });
    expect(read).toThrowErrorMatchingInlineSnapshot(`
      [ConfigurationError: The configuration has 4 problems:
        - PORT: expected a whole number from 0 to 65535; found "x"
        - DATABASE_URL: expected postgresql://…, file:… or none
        - ENABLE_CORS: expected true or false; found "maybe"
        - LOG_LEVEL: expected trace, debug, info, warn, error, fatal or silent; found "loud"
      Set the variables named above and start again.]
    `);
  });

  it('names a variable that is probably a misspelt setting beside the problems, and not its value', () => {
    const read = () => readEnvironment({}, { NODE_ENV: 'production', DATABSE_URL: 'file:x', CURSOR_SECRET: secret });
    expect(read).toThrowErrorMatchingInlineSnapshot(`
      [ConfigurationError: The configuration has a problem:
        - DATABASE_URL: expected a value, because NODE_ENV is production; found none
      DATABSE_URL is not a setting; DATABASE_URL was probably meant.
      Set the variables named above and start again.]
    `);
  });

  it('never shows the value of a secret', () => {
    const problems = problemsOf({ CURSOR_SECRET: 'too short', DATABASE_URL: 'mysql://user:password@db' }).join();
    expect(problems).toMatch(/CURSOR_SECRET.*DATABASE_URL|DATABASE_URL.*CURSOR_SECRET/);
    expect(problems).not.toMatch(/too short|password/);
  });

  it('requires an explicit database and the secret of its cursors in production', () => {
    expect(problemsOf({ NODE_ENV: 'production' })).toEqual([
      'DATABASE_URL: expected a value, because NODE_ENV is production; found none',
      'CURSOR_SECRET: expected a value, because NODE_ENV is production; found none',
    ]);
  });

  it('requires no secret of cursors for a command, without a database, and outside production, where it is made', () => {
    const production = { NODE_ENV: 'production', DATABASE_URL: 'postgresql://db/app' };
    expect(readEnvironment({}, production, 'command').DATABASE_URL).toBe(production.DATABASE_URL);
    expect(problemsOf({ ...production, DATABASE_URL: 'none' })).toEqual([]);
    const [one, other] = [readEnvironment({}, {}).CURSOR_SECRET, readEnvironment({}, {}).CURSOR_SECRET];
    expect(one).toMatch(/^[\w+/]{43}=$/);
    expect(other).not.toBe(one);
  });

  it('reads NAME from the file that NAME_FILE names, without its last line break', () => {
    const { settings, sources } = new Configuration({ CURSOR_SECRET_FILE: fileWith(`${secret}\n`) });
    expect(settings.CURSOR_SECRET).toBe(secret);
    expect(sources).toContainEqual({ name: 'CURSOR_SECRET', value: '[redacted]', from: 'file' });
  });

  it('refuses a setting given twice and a file that cannot be read', () => {
    expect(problemsOf({ HOST: 'a', HOST_FILE: fileWith('b'), LOG_LEVEL_FILE: '/nowhere' })).toEqual([
      'HOST: set both by HOST and by HOST_FILE; keep one',
      'LOG_LEVEL_FILE: cannot read /nowhere (ENOENT)',
    ]);
  });

  it('reads a file behind symbolic links, as Kubernetes mounts secrets', () => {
    const file = fileWith(secret);
    const directory = dirname(file);
    symlinkSync(directory, join(directory, '..data'));
    symlinkSync('..data/value', join(directory, 'linked'));
    expect(readEnvironment({}, { CURSOR_SECRET_FILE: join(directory, 'linked') }).CURSOR_SECRET).toBe(secret);
  });

  it('refuses files that never end, or hold more than a setting can', () => {
    const pipe = join(dirname(fileWith('')), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const large = fileWith('x'.repeat(65_537));
    expect(problemsOf({ HOST_FILE: '/dev/zero', LOG_LEVEL_FILE: pipe, CURSOR_SECRET_FILE: large })).toEqual([
      'HOST_FILE: cannot read /dev/zero (expected a regular file)',
      `CURSOR_SECRET_FILE: cannot read ${large} (expected at most 65536 bytes)`,
      `LOG_LEVEL_FILE: cannot read ${pipe} (expected a regular file)`,
    ]);
    expect(readEnvironment({}, { CURSOR_SECRET_FILE: fileWith('x'.repeat(65_536)) }).CURSOR_SECRET).toHaveLength(
      65_536,
    );
  });

  it.each([
    [
      'TRUST_PROXY',
      ['false', '2', 'loopback', '10.0.0.0/8, 192.168.1.1', '::1', '2001:db8::/32', '::ffff:10.0.0.0/104'],
      [
        ...'true nonsense 10.0.0.0/33 1.2.3 0.0.0.0/0 ::/0 fe80::1%eth0 2001::/129 0.0.0.0/7 2001::/15'.split(' '),
        ...['0.0.0.0/1,128.0.0.0/1', '::/1,8000::/1', '::ffff:0.0.0.0/97'],
      ],
    ],
    [
      'CORS_ORIGINS',
      ['*', 'https://a.example', 'http://a.test:8080,https://b.test'],
      ['foo', 'https://a.test/', '*,https://a.test'],
    ],
    [
      'DATABASE_URL',
      ['postgresql://db/app', 'postgres://u:p%40@db:5432/app?schema=a', 'postgresql:///app?host=/run', 'file:./a b.db'],
      [
        'postgresql://db:99999/app',
        'postgresql://db:0/app',
        'postgresql://db:5x/app',
        'postgresql://db/app?schema=a;b',
        'file::memory:',
        'file:%zz',
        'file://host/x',
      ],
    ],
    ['REDIS_URL', ['redis://:p@r:6379/1', 'rediss://r'], ['redis://r:99999', 'redis://r:0', 'redis://r:x']],
    ['SENTRY_DSN', ['https://k@s.test:443/1'], ['https://k@s.test:99999/1', 'https://k@s.test:0/1']],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', ['http://c:4318'], ['http://c:99999', 'http://c:0', 'http://c:x']],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', ['http://c:4318/v1/traces'], ['http://c:65536']],
    [
      'OPENAPI_SERVER_URL',
      ['/', '/shop', 'https://api.test', 'api'],
      [
        ...[
          'https://api.test:99999',
          'https://user:word@api.test',
          'https://user@api.test',
          'ftp://api.test',
          'http://',
        ],
        ...['https://api.test/?token=word', '/shop?token=word', '//user:word@api.test', 'https://api.test/#token=word'],
      ],
    ],
  ])('%s takes only what the server will understand', (name, good, bad) => {
    for (const value of good) expect(problemsOf({ [name]: value }), value).toEqual([]);
    for (const value of bad) {
      const [problem, ...more] = problemsOf({ [name]: value });
      expect([problem?.split(':')[0], more], value).toEqual([name, []]);
      expect(problem).not.toMatch(/user(:word)?@api|token=word/);
    }
  });

  it("reads the settings of modules together with the chassis' own", () => {
    const moduleSettings = { TEST_KEY: z.string().min(3, 'expected 3 characters').meta({ secret: true }) };
    expect(readEnvironment(moduleSettings, { TEST_KEY: 'abc' })).toMatchObject({ TEST_KEY: 'abc' });
    expect(problemsOf({ TEST_KEY: 'a', PORT: '-1' }, moduleSettings)).toHaveLength(2);
  });

  it('takes a service without a database, and then no sample data for it', () => {
    expect(readEnvironment({}, { NODE_ENV: 'production', DATABASE_URL: 'none' }).DATABASE_URL).toBe('none');
    expect(problemsOf({ DATABASE_URL: 'none', DATABASE_SEED: 'small' })).toEqual([
      'DATABASE_SEED: expected none, because DATABASE_URL is none; found small',
    ]);
    expect(problemsOf({ DATABASE_URL: 'none of them' })).toHaveLength(1);
  });

  it('tells where each setting came from', () => {
    const { sources } = new Configuration({ PORT: '8080' });
    expect(sources).toContainEqual({ name: 'PORT', value: 8080, from: 'environment' });
    expect(sources).toContainEqual({ name: 'HOST', value: '0.0.0.0', from: 'default' });
  });

  it('tells every setting, and what it is where nothing says it', () => {
    const key = z.string().optional().meta({ secret: true });
    const configuration = new Configuration(
      { PORT: '8080', LOG_FORMAT: 'json', DATABASE_URL: 'file:x.db' },
      { KEY: key },
    );
    const names = configuration.all.map(({ name }) => name);
    expect(names).toEqual([...Object.keys(environmentSchema.shape), 'KEY']);
    expect(configuration.all).toContainEqual({ name: 'SENTRY_DSN', value: undefined, from: 'default' });
    const defaults = ['PORT', 'LOG_FORMAT', 'DATABASE_SEED', 'DATABASE_URL', 'CURSOR_SECRET', 'SENTRY_DSN', 'KEY'];
    expect(defaults.map((name) => configuration.defaultOf(name))).toEqual([
      ...[3000, 'pretty', 'none', 'file:./data/slipway.db', '[redacted]', undefined, undefined],
    ]);
    expect(new Configuration({ NODE_ENV: 'test' }).defaultOf('LOG_FORMAT')).toBe('json');
  });
});
