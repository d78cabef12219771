import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp({
  modulesDirectory: join(import.meta.dirname, '../fixtures/modules-operations'),
  configure: (config) => ({ ...config, modules: [{ name: 'operations', enabled: true }] }),
});
const admin = { 'x-admin': '1' };
const nobody: Record<string, string> = {};
const all = (format: string, headers = nobody) =>
  app.send((server) => server.get(`/labels/all.${format}`).set(headers));
const act = (id: string, name: string, headers = nobody) =>
  app.send((server) => server.post(`/labels/${id}/${name}`).set(headers));
const categories = await app.orm.category.findMany({ orderBy: { id: 'asc' } });

describe('action', () => {
  it.each(['shout', 'shout-elsewhere'])(
    'answers %s, which gives nothing, with what the caller may see',
    async (name) => {
      const { id } = await app.orm.category.create({ data: { name: `quiet ${name}` } });
      const answer = await act(id, name).expectData();
      expect(answer).toEqual({ id, name: `quiet ${name}`.toUpperCase() });
      const seen = await act(id, name, admin).expectData();
      expect(seen).toMatchObject({ id, createdAt: expect.any(String) });
      await app.orm.category.delete({ where: { id } });
    },
  );

  it('answers 404 for a record that there is not', async () => {
    await act(crypto.randomUUID(), 'shout').expectError(404, 'Category not found');
  });
});

describe('streamAll', () => {
  it('sends the columns that were asked for, and none that the caller may not see', async () => {
    const names = categories.map(({ name }) => `${name}\r\n`);
    expect((await all('csv')).text).toBe(`name\r\n${names.join('')}`);
    const seen = categories.map(({ createdAt, name }) => `${createdAt.toISOString()},${name}\r\n`);
    expect((await all('csv', admin)).text).toBe(`createdAt,name\r\n${seen.join('')}`);
  });

  it('sends nothing else as NDJSON either', async () => {
    const lines = (await (await fetch(`${app.url}/labels/all.ndjson`)).text()).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(categories.map(({ name }) => ({ name })));
  });
});
