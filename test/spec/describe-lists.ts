import { describe, expect, it } from 'vitest';
import { expectRefused } from '../support/expect-refused.ts';
import { readModels } from '../support/models.ts';
import type { ReadableList } from '../support/readable-lists.ts';

/** Expects of each list what spec.md says of all: limits, pages, refusals and cursors. */
export function describeLists(lists: readonly ReadableList[]): void {
  const models = readModels();

  describe.each(lists.map((list) => [list.name, list] as const))('%s', (_list, { client, path, policy }) => {
    const { filters, includes, sorts, limits } = policy.describe();
    const paginated = `${path}/paginated`;

    // The compiler cannot follow policies that refer to each other by functions, so this is seen here.
    it('leads by each relation to a policy of the model behind it, and marks those that lead to many', () => {
      for (const [name, rule] of [...Object.entries(filters), ...Object.entries(includes)]) {
        if (!('describe' in rule)) continue;
        const { model, many } = rule;
        expect(models.get(policy.model)?.targets[name], `${policy.model}.${name}`).toEqual({ model, many });
      }
    });

    it('is bounded and says by how many records', async () => {
      const { body, headers } = await client.get(path);
      expect(Number(headers['x-result-limit'])).toBeLessThanOrEqual(limits.findLimit);
      expect(body.data.length).toBeLessThanOrEqual(Number(headers['x-result-limit']));
    });

    it('takes the defaults 1 and 10 for page and pageSize, and counts all records', async () => {
      const { body } = await client.get(paginated);
      expect(body).toMatchObject({ success: true, page: 1, pageSize: 10 });
      expect(body.data).toHaveLength(Math.min(10, body.total));
      expect((await client.get(paginated, { count: 'none' })).body.total).toBeNull();
    });

    it.each([
      { page: 0 },
      { pageSize: 0 },
      { pageSize: 101 },
      { extra: 1 },
      { where: '{' },
      { orderBy: '{' },
      { include: '{' },
    ])('refuses %j and names the parameter', async (query) => {
      const [name] = Object.keys(query) as [string];
      const { body } = await client.get(paginated, query as Record<string, string>).expectError(400, /.+/);
      expect(JSON.stringify(body)).toContain(name);
    });

    it('is empty past the last page, and counts all records there too', async () => {
      const { total } = (await client.get(paginated)).body;
      expect((await client.get(paginated, { page: 9999 })).body).toMatchObject({ data: [], page: 9999, total });
    });

    it('refuses a cursor that is forged, and one that was made for another order', async ({ skip }) => {
      const [key] = sorts;
      const { body } = await client.get(paginated, { cursor: '', pageSize: 1, orderBy: { [key as string]: 'asc' } });
      const cursor = body.nextCursor as string | null;
      skip(cursor === null, 'the sample data has one record of it at most');
      const forged = { cursor: `${cursor?.slice(0, -2)}xx`, orderBy: { [key as string]: 'asc' } };
      await expectRefused(client, paginated, forged, 'cursor');
      await expectRefused(client, paginated, { cursor, orderBy: { [key as string]: 'desc' } } as never, 'cursor');
    });

    it.each(['id', ...sorts].map((key) => [key]))(
      'walks every record once by cursor, in the order of %s',
      async (key) => {
        const orderBy = key === 'id' ? {} : { orderBy: { [key]: 'desc' } };
        const { total } = (await client.get(paginated, orderBy)).body;
        const seen: string[] = [];
        let cursor: string | null = '';
        while (cursor !== null && seen.length <= total) {
          const { body } = await client.get(paginated, { cursor, pageSize: 100, ...orderBy });
          seen.push(...body.data.map(({ id }: { id: string }) => id));
          cursor = body.nextCursor;
        }
        expect(cursor).toBeNull();
        expect(seen).toHaveLength(total);
        expect(new Set(seen).size).toBe(total);
      },
    );
  });
}
