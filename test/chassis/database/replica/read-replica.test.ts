import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { bootTestApp, type TestApp } from '../../../support/boot-test-app.ts';
import { type LoggedLine, recordingLogger } from '../../../support/log-lines.ts';
import { startReplicatedPostgres } from '../../../support/replicated-postgres.ts';
import { aProduct } from '../../../support/samples.ts';
import { startTcpDetour } from '../../../support/tcp-detour.ts';

const products = '/api/v1/products';
const servers = await startReplicatedPostgres();
const portOf = (url: string) => Number(new URL(url).port);
await servers.create('shop');
const primary = servers.primary('shop');
const detour = await startTcpDetour(portOf(servers.replica('shop')));
const replica = primary.replace(/:\d+\//, `:${detour.port}/`);
const { logger, lines } = recordingLogger();
const pod = await boot({ DATABASE_MIGRATE: 'true', DATABASE_SEED: 'small' });
const [{ id: categoryId }] = await pod.get('/api/v1/categories').expectData();
const store = (by = pod) => by.as('admin').post(products, aProduct({ categoryId })).expectData(201);
const find = (sku: string, by = pod) => by.get(products, { where: { sku } }).expectData();

function boot(env: Record<string, string> = {}): Promise<TestApp> {
  const urls = { DATABASE_URL: primary, DATABASE_READ_URL: replica, DATABASE_READ_WAIT_MS: '2000' };
  return bootTestApp({ provider: 'postgresql', env: { ...urls, ...env }, logger });
}

/** How many lists each outcome had since it was last asked. */
function outcomesOf(app: TestApp) {
  let before = read();
  function read(): Record<string, number> {
    const family = app.service.metrics.database.families.find(({ name }) => name === 'database_replica_reads_total');
    return Object.fromEntries((family?.samples() ?? []).map(({ labels, value }) => [labels.slice(9, -1), value]));
  }
  return () => {
    const now = read();
    const since = Object.entries(now).map(([name, value]) => [name, value - (before[name] ?? 0)]);
    before = now;
    return Object.fromEntries(since.filter(([, value]) => value !== 0)) as Record<string, number>;
  };
}

const isUsed = (app: TestApp) => app.service.database.replica?.isUsed;
const used = (app: TestApp, state = true) => expect.poll(() => isUsed(app)).toBe(state);
const said = (from: number, msg: string) => lines.slice(from).filter((logged: LoggedLine) => logged.msg === msg);

async function on(url: string, sql: string) {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(sql);
  await client.end();
  return rows;
}

describe('a list, with a replica', () => {
  it.each([
    ['JSON', {}],
    ['the ORM', { DATABASE_JSON_READS: 'false' }],
  ])('is read there by %s, and shows what any pod stored, changed and removed just before', async (_reader, env) => {
    const other = await boot(env);
    await used(other);
    const outcomes = outcomesOf(other);
    for (let round = 0; round < 20; round += 1) {
      const { id, sku } = await store();
      expect(await find(sku, other)).toMatchObject([{ id }]);
      await pod
        .as('admin')
        .put(`${products}/${id}`, { name: `Changed ${round}` })
        .expectData();
      expect(await find(sku, other)).toMatchObject([{ name: `Changed ${round}` }]);
      await pod.as('admin').delete(`${products}/${id}`);
      expect(await find(sku, other)).toEqual([]);
    }
    const { replica: there = 0, ...rest } = outcomes();
    expect(there, JSON.stringify(rest)).toBeGreaterThan(10);
  });

  it('is read there with computed fields too, of a page and of all', async () => {
    const withOrders = await boot();
    await used(withOrders);
    const outcomes = outcomesOf(withOrders);
    const found = await withOrders.as('admin').get('/api/v1/orders').expectData();
    expect(found[0]).toMatchObject({ totalCents: expect.any(Number) });
    expect(outcomes()).toEqual({ replica: 1 });
    await withOrders.as('admin').get('/api/v1/orders/paginated').expectData();
    expect(outcomes()).toMatchObject({ replica: expect.any(Number) });
  });

  it('is read from the primary while the replica replays nothing, and there again once it has caught up', async () => {
    const quick = await boot({ DATABASE_READ_WAIT_MS: '5' });
    await used(quick);
    const outcomes = outcomesOf(quick);
    await servers.pause();
    try {
      for (let round = 0; round < 5; round += 1) {
        const { id, sku } = await store(quick);
        expect(await find(sku, quick)).toMatchObject([{ id }]);
        expect(await find('none of these', quick)).toEqual([]);
      }
      expect(outcomes()).not.toHaveProperty('replica');
      await used(quick, false);
      expect(quick.service.database.replica?.lagSeconds).toBeGreaterThan(0);
    } finally {
      await servers.resume();
    }
    await servers.settle();
    await used(quick);
    outcomes();
    await expect.poll(async () => (await find('none of these', quick)) && outcomes().replica).toBeGreaterThan(0);
    await expect.poll(() => quick.service.database.replica?.lagSeconds).toBe(0);
  });

  it('keeps the pages of a walk apart and complete, whichever server reads them, while others write', async () => {
    const quick = await boot({ DATABASE_READ_WAIT_MS: '0' });
    await used(quick);
    const outcomes = outcomesOf(quick);
    const known = new Set<string>((await all(quick)).map(({ id }) => id));
    expect(known.size).toBe(await pod.count('product'));
    await servers.pause();
    const { id } = await store();
    const behind = await all(quick);
    await servers.resume();
    expect(behind.map((one) => one.id).sort()).toEqual([...known, id].sort());
    expect(Object.keys(outcomes()).sort()).toEqual(expect.arrayContaining(['behind', 'replica']));
  });

  it('is read from the primary when the read fails on the replica', async () => {
    await used(pod);
    const outcomes = outcomesOf(pod);
    let answer: PromiseLike<{ status: number }> | undefined;
    const holder = new Client({ connectionString: primary });
    holder.on('error', () => undefined);
    await holder.connect();
    try {
      // A lock on the primary reaches the replica, so that the read waits there.
      await holder.query('BEGIN; LOCK TABLE products IN ACCESS EXCLUSIVE MODE');
      await on(primary, 'SELECT pg_switch_wal()');
      const replica = servers.replica('shop');
      const locks = "SELECT 1 FROM pg_locks WHERE mode = 'AccessExclusiveLock'";
      await expect.poll(() => on(replica, locks), { message: 'the lock on the replica' }).toHaveLength(1);
      answer = pod.get(products);
      const waits = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
      await expect.poll(() => on(replica, waits), { message: 'the read on the replica' }).not.toHaveLength(0);
    } finally {
      await holder.end();
    }
    expect((await answer)?.status).toBe(200);
    expect(outcomes()).toMatchObject({ failed: expect.any(Number) });
  });

  it('is read from the primary while the replica is away, of which readiness hears nothing, and there when it is back', async () => {
    await used(pod);
    const from = lines.length;
    await servers.killReplica();
    const outcomes = outcomesOf(pod);
    const { id, sku } = await store();
    expect(await find(sku)).toMatchObject([{ id }]);
    expect((await pod.internal.get('/readyz')).status).toBe(200);
    await used(pod, false);
    expect(await find(sku)).toMatchObject([{ id }]);
    expect(outcomes()).not.toHaveProperty('replica');
    expect(said(from, 'read replica not used')[0]).toMatchObject({
      reason: expect.stringMatching(/refused|terminated/),
    });
    await servers.startReplica();
    await used(pod);
    expect(await find(sku)).toMatchObject([{ id }]);
    expect(outcomes().replica).toBeGreaterThan(0);
  });

  it('is not kept waiting by a replica that says nothing any more', async () => {
    await used(pod);
    const outcomes = outcomesOf(pod);
    detour.hold();
    try {
      const { id, sku } = await store();
      expect(await find(sku)).toMatchObject([{ id }]);
      await used(pod, false);
      expect(await find(sku)).toMatchObject([{ id }]);
      expect(outcomes()).not.toHaveProperty('replica');
    } finally {
      detour.release();
    }
    await used(pod);
  });

  it('is read from no other server that the name leads to', async () => {
    const own = await boot();
    await used(own);
    const from = lines.length;
    const outcomes = outcomesOf(own);
    // The connection that was opened at the start is in use, so that the next read opens another.
    const lent = await own.service.database.replica?.pool?.connect();
    detour.lead(portOf(primary));
    expect(await find('none of these', own)).toEqual([]);
    expect(outcomes()).not.toHaveProperty('replica');
    expect(said(from, 'read replica not used')).toMatchObject([{ reason: expect.stringContaining('another server') }]);
    lent?.release();
    detour.lead(portOf(servers.replica('shop')));
  });
});

describe('a service', () => {
  it('starts without its replica, and says why it is not used', async () => {
    const from = lines.length;
    const outcomes = outcomesOf(await boot({ DATABASE_READ_URL: primary }));
    expect(said(from, 'read replica not used')).toMatchObject([{ reason: 'it is no streaming replica' }]);
    expect(outcomes()).toEqual({});
    const away = await boot({ DATABASE_READ_URL: primary.replace(/:\d+\//, ':1/') });
    expect(await away.get(products).expectData()).not.toEqual([]);
    expect(said(from, 'read replica not used')[1]).toMatchObject({ reason: expect.stringContaining('ECONNREFUSED') });
  });

  it('starts without waiting for a replica that accepts connections and says nothing, and reads from it once it does', async () => {
    await used(pod);
    detour.hold();
    const from = lines.length;
    try {
      const own = await boot();
      const step = lines.slice(from).find(({ loader }) => loader === 'connectOrm');
      expect(step).toMatchObject({ ms: expect.any(Number) });
      expect(step?.ms).toBeLessThan(1500);
      expect(await own.get(products).expectData()).not.toEqual([]);
      detour.release();
      await expect.poll(() => isUsed(own), { timeout: 10_000 }).toBe(true);
    } finally {
      detour.release();
    }
    await used(pod);
  });

  it('tells of its replica in its metrics, and nothing where it has none', async () => {
    await used(pod);
    const { text } = await pod.internal.get('/metrics');
    expect(text).toMatch(/^database_replica_used 1$/m);
    expect(text).toMatch(/^database_replica_lag_seconds \d/m);
    expect(text).toMatch(/^database_replica_reads_total\{outcome="replica"\} \d+$/m);
    expect(text).toMatch(/^database_pool_connections\{pool="replica",state="idle"\} \d+$/m);
    const without = await bootTestApp({ provider: 'postgresql' });
    expect((await without.internal.get('/metrics')).text).not.toMatch(/^(?:database_replica_|[^#]*pool="replica")/m);
  });
});

/** A walk through the list by cursor. */
async function all(app: TestApp): Promise<{ id: string }[]> {
  const found: { id: string }[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body, status } = await app.get(`${products}/paginated`, { cursor, pageSize: 25, orderBy: { name: 'asc' } });
    expect(status, JSON.stringify(body)).toBe(200);
    found.push(...body.data);
    cursor = body.nextCursor;
  }
  return found;
}
