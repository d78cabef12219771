import { type AddressInfo, createServer, type Server } from 'node:net';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/chassis/database/client/orm.ts';
import { databaseSettings, onServer, openEmptyDatabase } from '../../support/empty-database.ts';
import { raised } from '../../support/raised.ts';
import { startTcpDetour } from '../../support/tcp-detour.ts';

describe('an unavailable PostgreSQL', () => {
  const unavailable = { name: 'DatabaseUnavailableException', statusCode: 503, headers: { 'Retry-After': '1' } };

  it('is a DatabaseUnavailableException when a statement takes too long', async () => {
    const open = await openEmptyDatabase('postgresql', { DATABASE_STATEMENT_TIMEOUT_MS: 50 });
    const error = await raised(() => open.client.$queryRawUnsafe('SELECT pg_sleep(5)::text'));
    await open.close();
    expect(error).toMatchObject(unavailable);
    expect(error.message).toBe('Database Unavailable: a statement took too long');
  });

  it('is a DatabaseUnavailableException when no connection becomes free in time', async () => {
    // As long as a busy machine may take to connect.
    const open = await openEmptyDatabase('postgresql', { DATABASE_POOL_SIZE: 1, DATABASE_ACQUIRE_TIMEOUT_MS: 250 });
    const busy = open.client.$queryRawUnsafe('SELECT pg_sleep(1)::text').catch(() => undefined);
    await expect.poll(() => open.pool?.totalCount).toBe(1);
    const errors = [
      await raised(() => open.client.product.count()),
      await raised(() => open.client.$transaction(async () => 1)),
    ];
    await busy;
    await open.close();
    for (const error of errors) expect(error).toMatchObject(unavailable);
    expect(errors[0]?.message).toBe('Database Unavailable: no connection became free in time');
  });

  it('may have stored what it was asked for where its answer was lost, and has not where no connection became free', async () => {
    const open = await openEmptyDatabase('postgresql', { DATABASE_STATEMENT_TIMEOUT_MS: 1000 });
    const url = new URL(open.settings.DATABASE_URL);
    const detour = await startTcpDetour(Number(url.port));
    url.port = `${detour.port}`;
    const limits = { DATABASE_POOL_SIZE: 1, DATABASE_ACQUIRE_TIMEOUT_MS: 250 };
    const far = await openDatabase({ ...open.settings, ...limits, DATABASE_URL: url.href });
    const row = `SELECT gen_random_uuid(), 'late', now() FROM pg_sleep(0.6)`;
    const storing = raised(() => far.client.$executeRawUnsafe(`INSERT INTO categories(id, name, "updatedAt") ${row}`));
    const refused = await raised(() => far.client.category.count());
    detour.hold();
    const lost = await storing;
    const stored = await open.client.category.count();
    detour.release();
    await far.close();
    await open.close();
    expect(refused).toMatchObject({ ...unavailable, mayBeStored: false });
    expect(lost).toMatchObject({ ...unavailable, mayBeStored: true });
    expect(stored).toBe(1);
  });

  it('is a DatabaseUnavailableException when the server ends the connection', async () => {
    const open = await openEmptyDatabase('postgresql');
    const database = new URL(open.settings.DATABASE_URL).pathname.slice(1);
    const failing = raised(() => open.client.$queryRawUnsafe('SELECT pg_sleep(5)::text'));
    const others = `FROM pg_stat_activity WHERE datname = '${database}' AND query LIKE '%pg_sleep%'`;
    await expect.poll(async () => (await onServer(`SELECT pid ${others}`)).length).toBe(1);
    await onServer(`SELECT pg_terminate_backend(pid) ${others}`);
    const error = await failing;
    const again = await open.client.product.count();
    await open.close();
    expect(error).toMatchObject(unavailable);
    expect(again).toBe(0);
  });

  it('is a DatabaseUnavailableException when it accepts no connections', async () => {
    const open = await openEmptyDatabase('postgresql');
    const database = new URL(open.settings.DATABASE_URL).pathname.slice(1);
    await onServer(`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`);
    await onServer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`);
    await expect.poll(() => open.pool?.totalCount).toBe(0);
    const errors = [
      await raised(() => open.client.product.count()),
      await raised(() => open.client.$queryRawUnsafe('SELECT 1')),
      await raised(() => open.client.$transaction(async () => 1)),
    ];
    const start = await raised(() => openDatabase(open.settings));
    await onServer(`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`);
    const again = await open.client.product.count();
    await open.close();
    for (const error of errors) expect(error).toMatchObject(unavailable);
    expect(errors[0]?.message).toBe('Database Unavailable: it accepts no connections');
    expect(start).toMatchObject({ ...unavailable, message: expect.stringContaining('it accepts no connections') });
    expect(again).toBe(0);
  });

  it('is not meant by the same code of a statement, such as that of a sequence which gave no value yet', async () => {
    const open = await openEmptyDatabase('postgresql');
    await open.client.$executeRawUnsafe('CREATE SEQUENCE numbers');
    const error = await raised(() => open.client.$queryRawUnsafe("SELECT currval('numbers')::text"));
    await open.close();
    expect(error).toMatchObject({
      statusCode: 500,
      cause: { meta: { driverAdapterError: { cause: { code: '55000' } } } },
    });
  });

  it('is a DatabaseUnavailableException when two transactions wait for each other', async () => {
    const open = await openEmptyDatabase('postgresql');
    const [a, b] = await Promise.all(['a', 'b'].map((name) => open.client.category.create({ data: { name } })));
    const bothHold = Promise.withResolvers<void>();
    let holding = 0;
    const cross = (first: string | undefined, second: string | undefined) =>
      open.client.$transaction(async (transaction) => {
        await transaction.category.update({ where: { id: String(first) }, data: { name: `${first} 1` } });
        holding += 1;
        if (holding === 2) bothHold.resolve();
        await bothHold.promise;
        await transaction.category.update({ where: { id: String(second) }, data: { name: `${second} 2` } });
      });
    const [ab, ba] = [cross(a?.id, b?.id), cross(b?.id, a?.id)];
    const results = await Promise.allSettled([ab, ba]);
    await open.close();
    expect(results.filter(({ status }) => status === 'rejected')).toMatchObject([{ reason: unavailable }]);
  });

  it('cannot be opened: the error names the server and never the password', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => closed.once('listening', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const settings = databaseSettings(`postgresql://me:secret-word@127.0.0.1:${port}/shop`);
    const error = await raised(() => openDatabase(settings));
    expect(error).toMatchObject(unavailable);
    expect(error.message).toContain(`No answer from the database at 127.0.0.1:${port}/shop`);
    expect(error.message).toContain('Check DATABASE_URL');
    expect(`${error.message}${error.stack}`).not.toContain('secret-word');
  });

  it('cannot be opened: a server that never answers fails within the time to get a connection', async () => {
    const silent: Server = createServer(() => undefined).listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const { port } = silent.address() as AddressInfo;
    const settings = databaseSettings(`postgresql://127.0.0.1:${port}/shop`, { DATABASE_ACQUIRE_TIMEOUT_MS: 100 });
    const error = await raised(() => openDatabase(settings));
    silent.close();
    expect(error).toMatchObject(unavailable);
  });

  it('cannot be opened: a wrong password and a missing database say so', async () => {
    const open = await openEmptyDatabase('postgresql');
    const url = new URL(open.settings.DATABASE_URL);
    url.password = 'wrong';
    const password = await raised(() => openDatabase(databaseSettings(url.href)));
    const missing = await raised(() =>
      openDatabase(databaseSettings(open.settings.DATABASE_URL.replace(/\w+$/, 'nowhere'))),
    );
    await open.close();
    expect(password).toMatchObject({
      ...unavailable,
      message: expect.stringContaining('it refused the user or password'),
    });
    expect(missing).toMatchObject({ ...unavailable, message: expect.stringContaining('it does not exist') });
  });
});
