import { execFile } from 'node:child_process';
import { argon2Sync, createHash } from 'node:crypto';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { productRecords } from '../../prisma/seed/records.ts';
import { demoPassword, seed } from '../../prisma/seed.ts';
import { applyMigrations } from '../../src/chassis/database/migrations/apply-migrations.ts';
import { anyProvider, databaseProviders, emptyDatabase, openEmptyDatabase } from '../support/empty-database.ts';

const program = join(import.meta.dirname, '../../src/chassis/cli/main.ts');

async function emptyClient(provider: (typeof databaseProviders)[number]) {
  const open = await openEmptyDatabase(provider);
  onTestFinished(open.close);
  return open.client;
}

type Client = Awaited<ReturnType<typeof emptyClient>>;

/** One number for everything that is stored. */
async function fingerprint(client: Client): Promise<string> {
  const orderBy = { id: 'asc' } as const;
  const content = await Promise.all([
    client.category.findMany({ orderBy }),
    client.user.findMany({ orderBy }),
    client.profile.findMany({ orderBy }),
    client.product.findMany({ orderBy }),
  ]);
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

describe('the seed', () => {
  it('stores the same on both databases, and nothing new when it runs again', async () => {
    const prints: string[] = [];
    for (const provider of databaseProviders) {
      const client = await emptyClient(provider);
      await seed(client, { size: 'small', accounts: true });
      prints.push(await fingerprint(client));
      await seed(client, { size: 'small', accounts: true });
      prints.push(await fingerprint(client));
      expect(await client.category.count()).toBe(51);
      expect(await client.product.count()).toBe(1000);
      expect([await client.user.count(), await client.profile.count()]).toEqual([200, 199]);
    }
    expect(new Set(prints).size).toBe(1);
  });

  it('completes what an interrupted run left', async () => {
    const client = await emptyClient(anyProvider);
    await seed(client, { size: 'small', accounts: true });
    const whole = await fingerprint(client);
    await client.product.deleteMany({ where: { sku: { gte: 'SKU-000500' } } });
    await client.profile.deleteMany({ where: { location: 'Paris' } });
    await seed(client, { size: 'small', accounts: true });
    expect(await fingerprint(client)).toBe(whole);
  });

  it('makes two demo accounts whose password verifies, and none in production', async () => {
    const client = await emptyClient(anyProvider);
    await seed(client, { size: 'small', accounts: false });
    expect(await client.user.count()).toBe(0);
    await client.product.deleteMany();
    await seed(client, { size: 'small', accounts: true });
    const demo = await client.user.findMany({ where: { email: { in: ['admin@example.com', 'user@example.com'] } } });
    expect(demo.map(({ email, role }) => [email, role]).sort()).toEqual([
      ['admin@example.com', 'admin'],
      ['user@example.com', 'user'],
    ]);
    const [, kind, version, parameters, salt = '', hash] = demo[0]?.passwordHash.split('$') ?? [];
    expect([kind, version, parameters]).toEqual(['argon2id', 'v=19', 'm=19456,t=2,p=1']);
    const options = {
      message: demoPassword,
      nonce: Buffer.from(salt, 'base64'),
      parallelism: 1,
      tagLength: 32,
      memory: 19_456,
      passes: 2,
    };
    expect(argon2Sync('argon2id', options).toString('base64').replace(/=+$/, '')).toBe(hash);
  });

  it('asked to fill an empty database only, stores nothing where there is a single record', async () => {
    const client = await emptyClient(anyProvider);
    await client.category.create({ data: { name: 'Mine' } });
    await seed(client, { size: 'small', accounts: true, onlyWhenEmpty: true });
    expect([await client.user.count(), await client.category.count(), await client.product.count()]).toEqual([0, 1, 0]);
  });

  it('run by several at once stores everything once', async () => {
    const client = await emptyClient('postgresql');
    await Promise.all([1, 2, 3].map(() => seed(client, { size: 'small', accounts: true })));
    expect([await client.product.count(), await client.user.count()]).toEqual([1000, 200]);
  });

  it('leaves an account alone that somebody registered with one of its addresses', async () => {
    const client = await emptyClient(anyProvider);
    const own = await client.user.create({ data: { email: 'admin@example.com', name: 'Me', passwordHash: 'mine' } });
    await seed(client, { size: 'small', accounts: true });
    expect(await client.user.findUnique({ where: { email: 'admin@example.com' } })).toEqual(own);
    expect([await client.user.count(), await client.profile.count()]).toEqual([200, 198]);
  });

  it('spreads prices and dates and reports how far it is', async () => {
    const products = [...productRecords(0, 5000)];
    const prices = products.map(({ price }) => price);
    expect(Math.min(...prices)).toBeGreaterThanOrEqual(100);
    expect(Math.max(...prices)).toBeLessThanOrEqual(1_000_000);
    expect(Math.min(...prices)).toBeLessThan(200);
    expect(Math.max(...prices)).toBeGreaterThan(900_000);
    expect(new Set(products.map(({ createdAt }) => createdAt.getUTCFullYear()))).toEqual(new Set([2024, 2025]));
    const client = await emptyClient(anyProvider);
    const reports: number[][] = [];
    await seed(client, { size: 'small', accounts: true, progress: (done, total) => reports.push([done, total]) });
    expect(reports.at(-1)).toEqual([1450, 1450]);
  });

  it('runs from the command line, silent on what is no terminal, and in production only when its size is named', async () => {
    const { settings, remove } = await emptyDatabase(anyProvider);
    onTestFinished(remove);
    await applyMigrations(settings);
    const run = (env: string, ...options: string[]) =>
      promisify(execFile)(process.execPath, [program, 'seed', ...options], {
        env: { PATH: process.env.PATH, NODE_ENV: env, DATABASE_URL: settings.DATABASE_URL },
      });
    await expect(run('test', '--size', 'huge')).rejects.toMatchObject({
      stderr: 'Expected --size small or --size full, got "huge".\n',
    });
    await expect(run('production')).rejects.toMatchObject({ stderr: expect.stringContaining('name --size small') });
    const { stdout, stderr } = await run('test', '--size', 'small');
    expect(stderr).toBe('');
    expect(stdout).toContain('There are 1,000 sample products and accounts admin@example.com and user@example.com');
  });
});
