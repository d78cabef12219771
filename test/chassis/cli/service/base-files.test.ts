import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { baseFiles } from '../../../../src/chassis/cli/service/base-files.ts';
import type { Auth, ServicePlan } from '../../../../src/chassis/cli/service/package-file.ts';
import { signingSecrets } from '../../../../src/chassis/config/settings/setting-types.ts';

/** The files of a new service. */
function files(changes: Partial<ServicePlan> = {}): Record<string, string> {
  return baseFiles({ name: 'shop', database: 'both', auth: 'token', slipway: '^1.0.0', ...changes });
}

describe('a new service', () => {
  it('has the Dockerfile of the reference service under its own name', () => {
    const { Dockerfile = '', '.dockerignore': ignored = '' } = files();
    expect(Dockerfile).toContain('org.opencontainers.image.title=shop');
    expect(Dockerfile).not.toMatch(/vendor|licenses/);
    expect(ignored).not.toMatch(/vendor|scripts/);
  });

  it.each<Auth>(['token', 'api-keys', 'issuer', 'none'])('with --auth %s names no workflow that it lacks', (auth) => {
    const made = files({ auth });
    const named = Object.values(made).flatMap((text) => [...text.matchAll(/workflows? `([\w-]+)`/g)]);
    for (const [, name] of named) expect(Object.keys(made)).toContain(`.github/workflows/${name}.yml`);
  });

  it.each<Auth>(['token', 'api-keys'])(
    'with --auth %s tells a clone, which has no .env, how to make its token',
    (auth) => {
      const { 'README.md': readme = '' } = files({ auth });
      const [, command = ''] = /^(echo "AUTH_TOKEN=.*)$/m.exec(readme) ?? [];
      const cwd = mkdtempSync(join(tmpdir(), 'slipway-clone-'));
      onTestFinished(() => rmSync(cwd, { recursive: true }));
      execFileSync('bash', ['-ec', command], { cwd });
      const { AUTH_TOKEN } = parseEnv(readFileSync(join(cwd, '.env'), 'utf8'));
      expect(signingSecrets('Tokens').parse(AUTH_TOKEN)).toEqual([AUTH_TOKEN]);
    },
  );

  it('that comes from a tarball has it in its image', () => {
    const { Dockerfile, '.dockerignore': ignored } = files({ slipway: 'file:vendor/slipway-1.0.0.tgz' });
    expect(Dockerfile).toContain('COPY package.json package-lock.json ./\nCOPY vendor vendor\n');
    expect(ignored).toContain('\n!vendor\n');
  });

  it.each<[Auth, string[], RegExp | undefined]>([
    ['token', ['src/modules/auth/auth.config.ts', 'src/modules/auth/di.ts'], /guards\(\(\{ AUTH_TOKEN \}\) => fixed/],
    [
      'api-keys',
      [
        ...['auth.config', 'api-key.schema', 'api-key.repository', 'api-key.provider', 'api-key.service'],
        ...['api-key.controller', 'api-key.routes', 'auth.guard', 'di'],
      ].map((file) => `src/modules/auth/${file}.ts`),
      /auth: AuthGuard/,
    ],
    ['issuer', ['src/modules/auth/di.ts'], /guards\(\(\) => bearer\(\), \{ roles: \['admin', 'user'\] \}\)/],
    ['none', [], undefined],
  ])('with --auth %s has guards of the chassis', (auth, modules, guards) => {
    const made = files({ auth });
    expect(Object.keys(made).filter((file) => file.startsWith('src/modules/'))).toEqual(modules);
    if (guards) expect(made['src/modules/auth/di.ts']).toMatch(guards);
  });

  it('with --auth api-keys keeps keys, tests their routes, and tells how the first one is made', () => {
    const made = files({ auth: 'api-keys' });
    expect(made['prisma/models.prisma']).toMatch(/^model ApiKey \{/m);
    expect(made['src/app.config.ts']).toContain("{ name: 'auth', enabled: true, routesPrefix: '/auth' }");
    expect(made['test/modules/api-key.test.ts']).toContain('make no keys');
    expect(made['README.md']).toMatch(/^curl -s localhost:3000\/auth\/api-keys -H "Authorization: Bearer /m);
    expect(made['.env']).toMatch(/^AUTH_TOKEN=\S{43}\n/);
    expect(made['helm/values.yaml']).toContain('generatedSecrets: [AUTH_TOKEN, CURSOR_SECRET]');
  });

  it('gives each start the identity provider that it names: on this machine, in tests, in the image and in pods', () => {
    const made = files({ auth: 'issuer' });
    expect(made['.env']).toMatch(/^AUTH_ISSUER=https:\/\/id\.example\.com\nAUTH_AUDIENCE=shop\n/);
    expect(made['vitest.config.ts']).toContain('AUTH_ISSUER');
    expect(made['Dockerfile']).toContain('ENV AUTH_ISSUER=https://id.example.com AUTH_AUDIENCE=shop\n');
    expect(made['helm/values.yaml']).toContain('  AUTH_ISSUER: https://id.example.com\n  AUTH_AUDIENCE: shop\n');
  });

  it('has no secret but in .env, which git and the image leave out', () => {
    const { '.env': env = '', ...others } = files();
    const [, secret = ''] = /^AUTH_TOKEN=(\S{43})\n/.exec(env) ?? [];
    expect(secret).not.toBe('');
    for (const [file, text] of Object.entries(others)) expect(text, file).not.toContain(secret);
    expect(others['.gitignore']).toMatch(/^\.env$/m);
    expect(others['.dockerignore']).toMatch(/^\*\*\/\.env\*$/m);
  });
});
