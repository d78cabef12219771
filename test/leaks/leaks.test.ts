import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';
import { linkedConfig, linkedModules } from '../support/linked-modules.ts';
import { ordersEnv } from '../support/order-shop.ts';
import { type ReadableList, readableLists } from '../support/readable-lists.ts';
import { routesOn } from '../support/routes-on.ts';
import { leakProbes, type Probe } from './leak-probes.ts';

const madeUp = 'zzMadeUpName';

const app = await bootTestApp({ env: ordersEnv() });
const lists = await readableLists(app);
const fixture = await bootTestApp({
  configure: (config) => ({ ...config, modules: [{ name: 'shelf', enabled: true, routesPrefix: '/api/v2' }] }),
  modulesDirectory: join(import.meta.dirname, '../fixtures/modules-shelf'),
});
const fixtureLists = await readableLists(fixture);
const linked = await bootTestApp({ modulesDirectory: linkedModules(), configure: linkedConfig() });
const linkedLists = (await readableLists(linked)).filter(({ path }) => path.startsWith('/api/v2'));

describe('the lists under test', () => {
  it('are those of every module that the service has', () => {
    const mounted = routesOn(app.express).filter(({ path }) => path.endsWith('/paginated'));
    expect(mounted.length).toBeGreaterThan(0);
    expect(new Set(lists.map(({ path }) => `${path}/paginated`))).toEqual(new Set(mounted.map(({ path }) => path)));
  });

  it('are asked by who is held to their policy', () => {
    const [everybody, oneself] = lists.filter(({ path }) => path === '/api/v1/users');
    expect(everybody?.client).toBe(app.as('user'));
    expect(oneself?.client).toBe(app.as('admin'));
    expect(oneself?.policy.describe().fields).toContain('email');
  });

  it('have among them those with relations to other modules', () => {
    expect(linkedLists.map(({ path }) => path)).toEqual(['/api/v2/accounts', '/api/v2/logins']);
  });

  it('have a new module among them without a word in a test', () => {
    expect(fixtureLists.map(({ module, path }) => [module, path])).toEqual([['shelf', '/api/v2/shelves']]);
  });
});

async function answerTo({ client, path }: ReadableList, probe: Probe, name: string) {
  const { status, body } = await client.get(path, probe.query(name));
  const { timestamp: _moment, ...rest } = body;
  return { status, body: JSON.stringify(rest) };
}

const every = [...lists, ...fixtureLists, ...linkedLists];

describe.each(every.map((list) => [list.name, list] as const))('%s', (_list, list) => {
  const probes = leakProbes(list.policy);

  it('declares less than the model has, so that there is something to keep', () => {
    expect(probes.flatMap(([, names]) => names).length).toBeGreaterThan(0);
  });

  it.each(probes.filter(([, names]) => names.length > 0).map(([probe, names]) => [probe.place, probe, names] as const))(
    'answers an undeclared name in the %s as one that does not exist',
    async (_place, probe, names) => {
      const unknown = await answerTo(list, probe, madeUp);
      expect(unknown).toMatchObject({ status: 400, body: expect.stringContaining('"success":false') });
      for (const name of names) {
        const expected = { ...unknown, body: unknown.body.replaceAll(madeUp, name) };
        expect(await answerTo(list, probe, name), name).toEqual(expected);
      }
    },
  );

  it('gives records with the fields of the policy and no others', async ({ skip }) => {
    const { total } = (await list.client.get(`${list.path}/paginated`)).body;
    skip(total === 0, 'the sample data has no record of it; prisma/seed.ts makes some');
    const [record] = await list.client.get(list.path).expectData();
    expect(Object.keys(record).sort()).toEqual([...list.policy.describe().fields].sort());
  });
});
