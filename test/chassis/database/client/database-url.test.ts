import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseDatabaseUrl } from '../../../../src/chassis/database/client/database-url.ts';

describe('parseDatabaseUrl', () => {
  it.each([
    ['file:./data/slipway.db', resolve('data/slipway.db')],
    ['file:data/slipway.db', resolve('data/slipway.db')],
    ['file:/var/lib/shop.db', '/var/lib/shop.db'],
    ['file:///var/lib/shop.db', '/var/lib/shop.db'],
    ['file:/var/my%20shop.db?connection_limit=1', '/var/my shop.db'],
  ])('reads %s as a file', (url, path) => {
    expect(parseDatabaseUrl(url)).toEqual({ provider: 'sqlite', path, writable: true, description: path });
  });

  it.each(['postgres://me:pw@db:5432/shop', 'postgresql://me:pw@db:5432/shop'])('reads %s as a server', (url) => {
    expect(parseDatabaseUrl(url)).toEqual({
      provider: 'postgresql',
      connectionString: url,
      schema: undefined,
      pgbouncer: false,
      writable: true,
      description: 'db:5432/shop',
      server: { address: 'db', port: 5432 },
    });
  });

  it("takes Prisma's own parameters out of the URL and leaves the driver's", () => {
    const target = parseDatabaseUrl('postgres://db/shop?schema=own&pgbouncer=true&sslmode=require&connection_limit=5');
    expect(target).toMatchObject({
      connectionString: 'postgres://db/shop?sslmode=require',
      schema: 'own',
      pgbouncer: true,
      writable: true,
    });
  });

  it.each([
    ['any', false],
    ['read-only', false],
    ['read-write', true],
  ])('takes target_session_attrs=%s as the kind of server that will do', (session, writable) => {
    const target = parseDatabaseUrl(`postgres://db/shop?target_session_attrs=${session}`);
    expect(target).toMatchObject({ connectionString: 'postgres://db/shop', writable });
  });

  it.each([
    'mysql://me:secret@db/shop',
    'data/slipway.db',
    '',
    'file:',
    'file::memory:',
    'file://server/share.db',
    'postgres://me:secret@db:x/y',
  ])('refuses %j, says what it expected, and repeats no password', (url) => {
    const read = () => parseDatabaseUrl(url);
    expect(read).toThrow('DATABASE_URL must be "postgresql://user:password@host:5432/database"');
    expect(read).not.toThrow('secret');
  });

  it('refuses a schema name that would have to be quoted', () => {
    expect(() => parseDatabaseUrl('postgres://db/shop?schema=a"b')).toThrow('in ?schema=');
  });
});
