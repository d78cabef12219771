import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  getRequestContext,
  type RequestContext,
  runWithRequestContext,
} from '../../../../src/chassis/context/request-context.ts';
import type { OpenOrm } from '../../../../src/chassis/database/client/orm.ts';
import { openEmptyDatabase } from '../../../support/empty-database.ts';

let open: OpenOrm;
const callers: (string | undefined)[] = [];
beforeAll(async () => {
  open = await openEmptyDatabase('postgresql');
  const pool = open.pool as Pool;
  const { query } = pool;
  Object.assign(pool, {
    query(...config: unknown[]) {
      callers.push(getRequestContext()?.requestId);
      return Reflect.apply(query, pool, config);
    },
  });
});
afterAll(() => open.close());

const ids = [1, 2, 3].map((digit) => `00000000-0000-4000-8000-00000000000${digit}`);
const read = (id: string) => open.client.user.findUnique({ where: { id }, select: { id: true } });
const request = <T>(requestId: string, work: () => Promise<T>) =>
  runWithRequestContext({ requestId, method: 'GET', url: '/', startTime: new Date() } as RequestContext, work);

it('single reads of several requests in one tick are asked for by each, and those of one request together', async () => {
  const found = await Promise.all([
    request('a', () => Promise.all(ids.map(async (id) => read(id)))),
    request('b', async () => read(ids[0] as string)),
    request('c', async () => read(ids[1] as string)),
  ]);
  expect(found).toEqual([[null, null, null], null, null]);
  expect(callers).toEqual(['a', 'b', 'c']);
});
