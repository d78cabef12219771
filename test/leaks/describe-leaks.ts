import { describe, expect, it } from 'vitest';
import type { ReadableList } from '../support/readable-lists.ts';
import { leakProbes, type Probe } from './leak-probes.ts';

const madeUp = 'zzMadeUpName';

async function answerTo({ client, path }: ReadableList, probe: Probe, name: string) {
  const { status, body } = await client.get(path, probe.query(name));
  const { timestamp: _moment, ...rest } = body;
  return { status, body: JSON.stringify(rest) };
}

/** Expects of each list that it tells nothing of what its policy does not declare. */
export function describeLeaks(lists: readonly ReadableList[]): void {
  describe.each(lists.map((list) => [list.name, list] as const))('%s', (_list, list) => {
    const probes = leakProbes(list.policy);

    it('declares less than the model has, so that there is something to keep', () => {
      expect(probes.flatMap(([, names]) => names).length).toBeGreaterThan(0);
    });

    it.each(
      probes.filter(([, names]) => names.length > 0).map(([probe, names]) => [probe.place, probe, names] as const),
    )('answers an undeclared name in the %s as one that does not exist', async (_place, probe, names) => {
      const unknown = await answerTo(list, probe, madeUp);
      expect(unknown).toMatchObject({ status: 400, body: expect.stringContaining('"success":false') });
      for (const name of names) {
        const expected = { ...unknown, body: unknown.body.replaceAll(madeUp, name) };
        expect(await answerTo(list, probe, name), name).toEqual(expected);
      }
    });

    it('gives records with the fields of the policy and no others', async ({ skip }) => {
      const { total } = (await list.client.get(`${list.path}/paginated`)).body;
      skip(total === 0, 'the sample data has no record of it; prisma/seed.ts makes some');
      const [record] = await list.client.get(list.path).expectData();
      expect(Object.keys(record).sort()).toEqual([...list.policy.describe().fields].sort());
    });
  });
}
