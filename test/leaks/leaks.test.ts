import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';
import { type ReadableList, readableLists } from '../support/readable-lists.ts';
import { leakProbes, type Probe } from './leak-probes.ts';

const madeUp = 'zzMadeUpName';

const lists = await readableLists(await bootTestApp());
const fixture = await bootTestApp({
  configure: (config) => ({ ...config, modules: [{ name: 'shelf', enabled: true, routesPrefix: '/api/v2' }] }),
  modulesDirectory: join(import.meta.dirname, '../fixtures/modules-shelf'),
});
const fixtureLists = await readableLists(fixture);

describe('the lists under test', () => {
  it('are those of every module that the service has', () => {
    expect(lists.map(({ path }) => path).sort()).toEqual([
      '/api/v1/categories',
      '/api/v1/products',
      '/api/v1/profiles',
      '/api/v1/users',
      '/auth/audit-events',
    ]);
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

describe.each([...lists, ...fixtureLists].map((list) => [list.path, list] as const))('%s', (path, list) => {
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

  it('gives records with the fields of the policy and no others', async () => {
    const [record] = await list.client.get(path).expectData();
    expect(Object.keys(record).sort()).toEqual([...list.policy.describe().fields].sort());
  });
});
