import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AppConfig, ModuleConfig } from '../../../src/chassis/config/app-config.ts';
import { registeredPolicies } from '../../../src/chassis/loaders/mounted-routers.ts';
import type { AnyListPolicy } from '../../../src/chassis/query/policy/list-policy.ts';
import { bootTestApp } from '../../support/boot-test-app.ts';
import { linkedConfig, linkedModules } from '../../support/linked-modules.ts';
import { routesOn } from '../../support/routes-on.ts';

const modulesDirectory = linkedModules();
const boot = (changes?: Record<string, Partial<ModuleConfig>>) =>
  bootTestApp({ modulesDirectory, configure: linkedConfig(changes) });

const app = await boot();
const user = app.as('user');
const logins = '/api/v2/logins';
const accounts = '/api/v2/accounts';
const { data: self } = (await user.get('/api/v1/users', { where: { name: { contains: '' } } })).body;

describe('a relation to a resource of another module', () => {
  it('is held to the very policy that the other module mounts', () => {
    const policies = registeredPolicies(app.express);
    const of = (path: string) => policies.find((registered) => registered.path === path)?.policy.rules;
    expect(of(logins)?.includes.get('user')?.target).toBe(of('/api/v1/users'));
    expect(of(accounts)?.includes.get('sessions')?.target).toBe(of(logins));
  });

  it('is included, filtered and sorted by what that policy allows, across three modules', async () => {
    expect(self.length).toBeGreaterThan(0);
    const [login] = await app.get(logins, { include: { user: true }, orderBy: { 'user.name': 'asc' } }).expectData();
    expect(Object.keys(login.user).sort()).toEqual(['avatarUrl', 'createdAt', 'id', 'name']);
    const [account] = await app
      .get(accounts, {
        where: { sessions: { some: { user: { name: login.user.name } } } },
        include: { sessions: { include: { user: true } } },
      })
      .expectData();
    expect(account.sessions[0].user.id).toBe(account.id);
  });

  it.each([
    ['where', { user: { email: 'x' } }],
    ['include', { user: { select: { email: true } } }],
  ])('keeps in %s what that policy keeps', async (parameter, value) => {
    const { body } = await app.get(logins, { [parameter]: value }).expectError(400, 'Invalid request data');
    expect(JSON.stringify(body.details)).toContain('\\"email\\" is not allowed here');
  });

  it('costs what a relation costs, and what the other policy says', () => {
    const policy = registeredPolicies(app.express).find(({ path }) => path === logins)?.policy as AnyListPolicy;
    const cost = (where: object) => policy.parseFind({ where: JSON.stringify(where) }).cost as number;
    expect(cost({ user: { name: { contains: 'abc' } } }) - cost({ userId: self[0].id })).toBeGreaterThan(90);
  });

  it('is walked through by cursors in its order', async () => {
    await app.as('admin').get('/api/v1/users');
    const walked: string[] = [];
    for (let cursor: string | null = ''; cursor !== null && walked.length < 9; ) {
      const query = { orderBy: { 'user.name': 'desc' }, include: { user: true }, pageSize: '1', cursor };
      const { body } = await app.get(`${logins}/paginated`, query as never);
      walked.push(...body.data.map((login: { user: { name: string } }) => login.user.name));
      cursor = body.nextCursor;
    }
    expect(walked).toEqual([...walked].sort().reverse());
    expect(new Set(walked).size).toBe(2);
  });

  it('is described by the components of the other resource, which are there once', async () => {
    const { schemas } = (await app.get('/api-docs.json')).body.components;
    const reference = (part: string) => ({ $ref: `#/components/schemas/${part}` });
    expect(schemas.SessionFilter.properties.user.anyOf[0]).toEqual(reference('UserFilter'));
    expect(schemas.LinkedLoginWithIncludes.allOf[1].properties.user.anyOf[0]).toEqual(reference('FixtureUser'));
    // The User of accounts is another policy.
    expect(Object.keys(schemas).filter((name) => /^User\d*Filter$/.test(name))).toHaveLength(2);
  });
});

describe('a relation to a resource that is not there stops the start, and says', () => {
  const who =
    "Expected policyOf\\('users', 'User'\\), which the list policy of Session in module logins \\(/api/v2/logins\\)";
  const relation = `${who} refers to by its relation user; `;

  it.each<[string, Record<string, Partial<ModuleConfig>>, string]>([
    ['that its module is disabled', { users: { enabled: false } }, 'module users is disabled in AppConfig. Enable it'],
    [
      'which of its route files is left out',
      { users: { includeRoutes: ['profile.routes'] } },
      'module users mounts Profile at /api/v1/profiles, user.routes.ts is not in includeRoutes. Mount User there',
    ],
  ])('%s', async (_case, changes, problem) => {
    await expect(boot(changes)).rejects.toThrow(new RegExp(relation + problem));
  });

  it('that there is no such module, and which there are', async () => {
    const without = (config: AppConfig): AppConfig => ({
      ...config,
      modules: linkedConfig()(config).modules.filter(({ name }) => name !== 'users'),
    });
    const start = bootTestApp({ modulesDirectory, configure: without });
    await expect(start).rejects.toThrow(
      'there is no module users in AppConfig (only access, catalog, orders, accounts, logins)',
    );
  });
});

describe('a relation to a module of which a part failed to load', () => {
  it('leaves out the routes that need it and those that need them, and mounts the others', async () => {
    const { express, service } = await bootTestApp({
      modulesDirectory: linkedModules({ users: join(import.meta.dirname, '../../fixtures/modules/broken-routes') }),
      configure: linkedConfig({ users: { includeRoutes: ['broken', 'fine'] } }),
    });
    const paths = routesOn(express).map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['/auth/login', '/api/v1/products', '/api/v1/fine']));
    expect(paths.filter((path) => path.startsWith('/api/v2'))).toEqual([]);
    const failures = service.startUpReport.failures.map(({ module, error }) => [module, (error as Error).message]);
    expect(failures.slice(1)).toEqual([
      ['logins', expect.stringMatching(/refers to by its relation user; module users could not be loaded/)],
      ['accounts', expect.stringMatching(/refers to by its relation sessions; module logins could not be loaded/)],
    ]);
  });
});

describe('a dependency of a disabled module', () => {
  it('is reported with the module that provides it', async () => {
    const { service } = await boot({
      access: { enabled: false },
      logins: { enabled: false },
      accounts: { enabled: false },
    });
    const messages = service.startUpReport.failures.map(({ error }) => (error as Error).message);
    expect(messages.length).toBeGreaterThan(0);
    for (const message of messages) {
      expect(message).toMatch(
        /Expected a dependency named \w+.*Module access, which is disabled in AppConfig, provides it/,
      );
    }
  });
});

describe('a list policy that says what another does not have', () => {
  it('keeps its route file from being mounted, with the reason', async () => {
    const { express, service } = await bootTestApp({
      modulesDirectory: join(import.meta.dirname, '../../fixtures/modules-misled'),
      configure: (config) => ({ ...config, modules: [{ name: 'misled', enabled: true }] }),
    });
    expect(routesOn(express)).toEqual([]);
    expect(service.startUpReport.failures).toMatchObject([
      { module: 'misled', error: { message: expect.stringMatching(/sort: category.name is no sortable field/) } },
    ]);
  });
});
