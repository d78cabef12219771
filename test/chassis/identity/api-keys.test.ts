import type { Request } from 'express';
import { afterAll, describe, expect, it } from 'vitest';
import { newApiKey } from '../../../src/chassis/identity/api-key-text.ts';
import { type ApiKeyOptions, ApiKeys, type StoredApiKey } from '../../../src/chassis/identity/api-keys.ts';
import { createService } from '../../../src/chassis/service.ts';
import { emptyConfig, emptyServiceVariables } from '../../support/empty-service.ts';

const service = createService(emptyConfig, { env: emptyServiceVariables });
afterAll(() => service.close());

/** Keys of a table in memory, how often they were looked up, and what was noted of their use. */
function open(options: ApiKeyOptions = {}) {
  const table = new Map<string, StoredApiKey>();
  const asked: string[] = [];
  const noted: ReadonlyMap<string, Date>[] = [];
  const store = {
    find: async (id: string) => {
      asked.push(id);
      return table.get(id);
    },
    noteUses: async (uses: ReadonlyMap<string, Date>) => void noted.push(uses),
  };
  const keys = service.run(() => new ApiKeys(store, { prefix: 'acme', ...options }));
  const make = (expiresAt: Date | null = null) => {
    const { id, key, hash } = keys.create();
    table.set(id, { hash, expiresAt, scopes: ['a'], owner: { userId: 'ann', roles: ['user'], tenantId: 't' } });
    return { id, key };
  };
  const ask = async (key: string | string[] | undefined, method = 'GET', fresh = false) =>
    keys.identify({ method, headers: { 'x-api-key': key } } as unknown as Request, { fresh });
  const refused = async (...parameters: Parameters<typeof ask>) =>
    expect(ask(...parameters)).rejects.toThrow('The API key is invalid, has expired or was revoked');
  return { keys, table, asked, noted, make, ask, refused };
}

describe('ApiKeys', () => {
  it('give the principal of the owner, limited to the scopes of the key', async () => {
    const { ask, make } = open();
    const principal = { userId: 'ann', tenantId: 't', roles: new Set(['user']), scopes: new Set(['a']), via: 'key' };
    expect(await ask(make().key)).toEqual(principal);
    expect(await ask(undefined)).toBeUndefined();
  });

  it('ask the table once for reads in a row, and always for what writes or has to be fresh', async () => {
    const { ask, asked, make } = open();
    const { key } = make();
    await ask(key);
    await ask(key);
    await ask(key, 'HEAD');
    expect(asked).toHaveLength(1);
    await ask(key, 'POST');
    await ask(key, 'DELETE');
    await ask(key, 'GET', true);
    expect(asked).toHaveLength(4);
  });

  it('refuse a revoked key for writes at once, for reads once what is known of it is forgotten or too old', async () => {
    const { ask, keys, make, refused, table } = open();
    const { id, key } = make();
    await ask(key);
    table.delete(id);
    await ask(key);
    keys.forget(id);
    await refused(key);
    const short = open({ cacheSeconds: 0 });
    const other = short.make();
    await short.ask(other.key);
    short.table.delete(other.id);
    await short.refused(other.key);
  });

  it('do not remember a key that is revoked while it is looked up', async () => {
    const { ask, keys, make, refused, table } = open();
    const { id, key } = make();
    const asking = ask(key);
    table.delete(id);
    keys.forget(id);
    await asking;
    await refused(key);
  });

  it('refuse a key that expires while it is known', async () => {
    const { ask, make, refused } = open();
    const { key } = make(new Date(Date.now() + 300));
    await ask(key);
    await expect.poll(() => ask(key).catch((error: Error) => error.message), { timeout: 5_000 }).toMatch(/has expired/);
    await refused(key);
  });

  it('do not look up what cannot be a key, and look up all others alike', async () => {
    const { asked, make, refused } = open();
    const { id, key } = make();
    for (const text of ['', 'acme_', key.slice(1), `${key}0`, newApiKey('other').key, '../../x', '__proto__']) {
      await refused(text);
    }
    expect(asked).toEqual([]);
    await refused(newApiKey('acme').key);
    expect(asked).toHaveLength(1);
    expect(asked).not.toContain(id);
  });

  it('note uses together, after a while and at the end', async () => {
    const { ask, make, noted } = open({ noteSeconds: 0.001 });
    const [one, two] = [make(), make()];
    await Promise.all([ask(one.key), ask(one.key), ask(two.key)]);
    await expect.poll(() => noted.flatMap((uses) => [...uses.keys()]).toSorted()).toEqual([one.id, two.id].toSorted());
    const late = open();
    const { id, key } = late.make();
    await late.ask(key);
    expect(late.noted).toEqual([]);
    await service.closers.closeAll();
    expect(late.noted.map((uses) => [...uses.keys()])).toEqual([[id]]);
  });

  it('refuse a prefix that no scanner could find', () => {
    expect(() => open({ prefix: 'a_b' })).toThrow('Expected a prefix of API keys');
  });
});
