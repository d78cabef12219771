import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { parseDatabaseUrl } from '../../../../src/chassis/database/client/database-url.ts';
import { isUnreachable } from '../../../../src/chassis/database/client/is-unreachable.ts';
import { openDatabase } from '../../../../src/chassis/database/client/orm.ts';
import { unreachableReason } from '../../../../src/chassis/database/client/unreachable-reason.ts';
import { freePort } from '../../../../src/chassis/testing/fake-peer.ts';
import { databaseSettings } from '../../../support/empty-database.ts';
import { raised } from '../../../support/raised.ts';

describe('a PostgreSQL that cannot be reached at start', () => {
  it('is reported with the address that refused the connection', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const error = await raised(() => openDatabase(databaseSettings(`postgresql://me:secret-word@${address}/shop`)));
    expect(error.message).toBe(
      `No answer from the database at ${address}/shop: connection refused at ${address}. ` +
        'Check DATABASE_URL and that the database runs.',
    );
    expect(isUnreachable(error)).toBe(true);
  });

  // A machine without a resolver cannot say that there is no such name, only that it cannot look it up.
  it('is reported with its host name when that leads nowhere, and is waited for', async () => {
    const error = await raised(() => openDatabase(databaseSettings('postgresql://me:secret-word@db.invalid/shop')));
    expect(error.message).toMatch(/: the host name "db\.invalid" (is not known|cannot be looked up at this moment)\. /);
    expect(error.message).not.toContain('secret-word');
    expect(isUnreachable(error)).toBe(true);
  });

  it('is reported with the socket file that is not there, and is waited for', async () => {
    const error = await raised(() => openDatabase(databaseSettings('postgresql:///shop?host=/nowhere')));
    expect(error.message).toContain(': there is no socket /nowhere/.s.PGSQL.5432. ');
    expect(isUnreachable(error)).toBe(true);
  });

  it('is reported as such, without a further reason, where the server takes connections', async () => {
    const server = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const cause = { kind: 'DatabaseNotReachable' };
    const target = parseDatabaseUrl(`postgresql://127.0.0.1:${port}/shop`);
    expect(await unreachableReason(target, Object.assign(new Error(), { name: 'DriverAdapterError', cause }))).toBe(
      'it cannot be reached',
    );
    server.close();
  });
});
