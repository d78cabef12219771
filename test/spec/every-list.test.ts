import { describe, expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';
import { readableLists } from '../support/readable-lists.ts';

const lists = await readableLists(await bootTestApp());

describe.each(lists.map((list) => [list.path, list] as const))('%s', (path, { client, policy }) => {
  const { sorts, limits } = policy.describe();
  const paginated = `${path}/paginated`;

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
