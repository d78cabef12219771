import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenOrm } from '../../../src/chassis/database/client/orm.ts';
import type { OrmClient } from '../../../src/chassis/database/client/orm-types.ts';
import { ConflictException } from '../../../src/chassis/errors/exceptions.ts';
import { IdempotencyKeys } from '../../../src/chassis/idempotency/idempotency-keys.ts';
import { databaseProviders, openEmptyDatabase } from '../../support/empty-database.ts';

const times = { keepMs: 60_000, lockMs: 0, waitMs: 0 };

/** The client of a database, which does something after each look at a key. */
function looking(client: OrmClient, afterLook: () => Promise<unknown>): OrmClient {
  const { idempotencyKey } = client as unknown as { idempotencyKey: { findUnique(query: object): Promise<unknown> } };
  const findUnique = async (query: object) => {
    const found = await idempotencyKey.findUnique(query);
    await afterLook();
    return found;
  };
  const keys = new Proxy(idempotencyKey, {
    get: (target, name) => (name === 'findUnique' ? findUnique : Reflect.get(target, name)),
  });
  return { idempotencyKey: keys } as unknown as OrmClient;
}

describe.each(databaseProviders)('an idempotency key on %s', (provider) => {
  let open: OpenOrm;

  beforeAll(async () => {
    open = await openEmptyDatabase(provider);
  });

  afterAll(() => open.close());

  it('whose request stores its answer late is not taken over by who has just looked', async () => {
    const request = { id: randomUUID(), fingerprint: 'one', caller: 'ann' };
    const own = new IdempotencyKeys(() => open.client, times);
    const taken = await own.take(request);
    if (typeof taken === 'string') throw new Error('expected the key, found an answer');
    let looks = 0;
    const client = looking(open.client, async () => {
      looks += 1;
      if (looks === 1) await own.complete(taken, 'the answer');
    });
    const other = new IdempotencyKeys(() => client, { ...times, waitMs: 5_000 });
    expect(await other.take(request)).toBe('the answer');
    expect(looks).toBe(2);
  });

  it('is asked for by one request of a process at a time, however many wait for it', async () => {
    const request = { id: randomUUID(), fingerprint: 'one', caller: 'ann' };
    let [asking, most] = [0, 0];
    const { idempotencyKey } = open.client as unknown as {
      idempotencyKey: { create(query: object): Promise<unknown> };
    };
    const create = async (query: object) => {
      most = Math.max(most, ++asking);
      return idempotencyKey.create(query).finally(() => {
        asking -= 1;
      });
    };
    const counted = new Proxy(idempotencyKey, {
      get: (target, name) => (name === 'create' ? create : Reflect.get(target, name)),
    });
    const client = { idempotencyKey: counted } as unknown as OrmClient;
    const keys = new IdempotencyKeys(() => client, { keepMs: 60_000, lockMs: 60_000, waitMs: 10_000 });
    const first = await keys.take(request);
    if (typeof first === 'string') throw new Error('expected the key, found an answer');
    const waiting = Array.from({ length: 30 }, () => keys.take(request));
    await expect(keys.take({ ...request, fingerprint: 'another' })).rejects.toThrow('used for another request');
    await keys.release(first);
    first.leave();
    const second = await waiting[0];
    if (typeof second !== 'object') throw new Error('expected the key, found an answer');
    await keys.complete(second, 'the answer');
    second.leave();
    second.leave();
    expect(await Promise.all(waiting.slice(1))).toEqual(Array(29).fill('the answer'));
    expect(most).toBe(1);
  });

  it('keeps 128 requests waiting at most, for whatever keys, and has room again once they have their answers', async () => {
    const keys = new IdempotencyKeys(() => open.client, { keepMs: 60_000, lockMs: 60_000, waitMs: 10_000 });
    const request = { id: randomUUID(), fingerprint: 'one', caller: 'ann' };
    const other = { ...request, id: randomUUID() };
    const [first, second] = [await keys.take(request), await keys.take(other)];
    if (typeof first === 'string' || typeof second === 'string') throw new Error('expected two keys, found an answer');
    const waiting = Array.from({ length: 128 }, () => keys.take(request));
    await expect(keys.take(other)).rejects.toThrow(ConflictException);
    await keys.complete(first, 'the answer');
    first.leave();
    expect(await Promise.all(waiting)).toEqual(Array(128).fill('the answer'));
    const late = keys.take(other);
    await keys.complete(second, 'another');
    second.leave();
    expect(await late).toBe('another');
  });

  it('is given to the next request where one holds it for longer than its lock', async () => {
    const request = { id: randomUUID(), fingerprint: 'one', caller: 'ann' };
    const keys = new IdempotencyKeys(() => open.client, { keepMs: 60_000, lockMs: 50, waitMs: 10_000 });
    await keys.take(request);
    expect(await keys.take(request)).toMatchObject({ id: request.id });
  });

  it('that was reserved can be reserved again once it has expired, by one of many', async () => {
    const keys = new IdempotencyKeys(() => open.client, times);
    const id = randomUUID();
    expect(await keys.reserve(id, 60_000)).toMatchObject({ id });
    expect(await keys.reserve(id, 60_000)).toBeUndefined();
    await open.client.idempotencyKey.updateMany({ where: { id }, data: { expiresAt: new Date(Date.now() - 1) } });
    const many = await Promise.all(Array.from({ length: 5 }, () => keys.reserve(id, 60_000)));
    expect(many.filter(Boolean)).toHaveLength(1);
  });
});
