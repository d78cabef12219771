import { join } from 'node:path';
import express from 'express';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import type { AppConfig } from '../../../../src/chassis/config/app-config.ts';
import {
  createService,
  handle,
  listPolicy,
  policyOf,
  ResourceController,
  ResourceService,
  type Service,
  z,
} from '../../../../src/chassis/index.ts';
import { registeredPolicies } from '../../../../src/chassis/loaders/mounted-routers.ts';
import { createCursorCodec } from '../../../../src/chassis/query/paging/cursor.ts';
import type { AnyListPolicy } from '../../../../src/chassis/query/policy/list-policy.ts';
import { ServicePolicies } from '../../../../src/chassis/query/policy/service-policies.ts';
import { bootTestApp, type TestApp } from '../../../support/boot-test-app.ts';
import { linkedConfig, linkedModules } from '../../../support/linked-modules.ts';

// The policy of logins is made anew with each start, that of accounts, which refers to it, once for the process.
const modulesDirectory = linkedModules({
  doubled: join(import.meta.dirname, '../../../fixtures/modules/doubled'),
});
const boot = () => bootTestApp({ modulesDirectory, configure: linkedConfig() });
const [one, two] = await Promise.all([boot(), boot()]);

const logins = '/api/v2/logins';
const accounts = '/api/v2/accounts';
const rulesAt = ({ express: app }: TestApp, at: string) =>
  registeredPolicies(app).find(({ path }) => path === at)?.policy.rules;
const targetOf = (app: TestApp) => rulesAt(app, accounts)?.includes.get('sessions')?.target;

async function sessionsOf(app: TestApp): Promise<{ user: { name: string } }[]> {
  const data = await app.get(accounts, { include: { sessions: { include: { user: true } } } }).expectData();
  return data.flatMap(({ sessions }: { sessions: object[] }) => sessions);
}

describe('the list policies of services of one configuration', () => {
  it('lead each to those of the same service, when both start at once on different databases', async () => {
    for (const app of [one, two]) expect(targetOf(app)).toBe(rulesAt(app, logins));
    expect(targetOf(one)).not.toBe(targetOf(two));
    await one.as('user').get('/api/v1/users');
    expect(await sessionsOf(one)).toMatchObject([{ user: { name: expect.any(String) } }]);
    expect(await sessionsOf(two)).toEqual([]);
  });

  it('lead each to those of the same service, when one starts after the end of another', async () => {
    const before = await boot();
    await before.service.close();
    const after = await boot();
    await after.as('user').get('/api/v1/users');
    expect(await sessionsOf(after)).toHaveLength(1);
    expect(targetOf(after)).toBe(rulesAt(after, logins));
  });

  it('stay as they are when a start fails after it has led its own', async () => {
    const target = targetOf(one);
    const twice = (config: AppConfig): AppConfig => {
      const linked = linkedConfig()(config);
      return { ...linked, modules: [...linked.modules, { name: 'doubled', enabled: true }] };
    };
    await expect(bootTestApp({ modulesDirectory, configure: twice })).rejects.toThrow(/each route once/);
    expect(targetOf(one)).toBe(target);
    expect(targetOf(await boot())).toBeDefined();
  });
});

describe('a list policy that no resource mounts', () => {
  it('leads to other modules as the service does in which it is used', () => {
    const list = sessionList();
    const find = () => list.parseFind({ include: '{"user":true}', orderBy: '{"user.name":"asc"}' }).select['user'];
    for (const { service } of [one, two]) expect(service.run(find)).toMatchObject({ select: { name: true } });
    expect(find).toThrow(/user leads to policyOf\('users', 'User'\), which no module of the current service mounts/);
  });
});

describe('a controller that is one object for several services', () => {
  it('reads the lists of each by its own policies', async () => {
    class SessionController extends ResourceController {
      readonly schemas = { record: session, create: session, update: session, list: sessionList() };
    }
    const cursors = createCursorCodec('a secret of the tests, 32 letters or more');
    const controller = new SessionController({ service: new EchoService({ repository: {} as never }), cursors });
    const names = serviceWith(z.object({ id: z.uuid(), name: z.string() }));
    const dates = serviceWith(z.object({ id: z.uuid(), createdAt: z.date() }));
    for (const { policies } of [names, dates, dates]) controller.usePolicies(policies);
    const asked = async (service: Service) => {
      const app = express().use((req, res, next) => service.run(() => handle(controller, 'list')(req, res, next)));
      const { body } = await request(app).get('/').query({ include: '{"user":true}' });
      return Object.keys(body.data[0].user.select);
    };
    expect(await asked(names)).toEqual(['id', 'name']);
    expect(await asked(dates)).toEqual(['id', 'createdAt']);
  });
});

const session = z.object({ id: z.uuid() });

function sessionList() {
  const user = policyOf('users', 'User');
  return listPolicy('Session', { record: session, sort: ['user.name'], include: { user } });
}

/** Answers with what it would select. */
class EchoService extends ResourceService {
  override listStored({ select }: { select: object }): Promise<readonly object[]> {
    return Promise.resolve([select]);
  }
}

/** A service of which module `users` lets out these fields of a user. */
function serviceWith(record: z.ZodObject): Service {
  const service = createService(
    { modules: [], server: { port: 0 } },
    { env: { NODE_ENV: 'test', LOG_LEVEL: 'silent', DATABASE_URL: 'none' } },
  );
  const policy = listPolicy('User', { record } as never) as AnyListPolicy;
  service.policies = new ServicePolicies([{ module: 'users', prefix: '', policy }]);
  return service;
}
