import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { productRecords, profileRecords, userRecords } from '../../prisma/seed/records.ts';
import { openDatabase } from '../../src/chassis/database/client/orm.ts';
import { applyMigrations } from '../../src/chassis/database/migrations/apply-migrations.ts';
import { migrationsDirectory } from '../../src/chassis/database/migrations/migration-files.ts';
import { emptyDatabase } from '../support/empty-database.ts';

const tables = ['users', 'profiles', 'refresh_tokens', 'categories', 'products'] as const;

/** The migrations up to this one. */
function migrationsUntil(last: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'slipway-upgrade-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const source = join(migrationsDirectory, 'postgresql');
  for (const name of readdirSync(source)) {
    if (name <= last) cpSync(join(source, name), join(directory, 'postgresql', name), { recursive: true });
  }
  return directory;
}

/** Stores rows by the statements of a service that knew identifiers as text and moments without a zone. */
async function fill(client: Client): Promise<void> {
  const users = userRecords(20, 'a hash');
  const products = [...productRecords(0, 200)];
  const categories = [...new Set(products.map(({ categoryId }) => categoryId))].map((id, number) => ({
    ...{ id, name: `Category ${number}` },
    ...{ createdAt: new Date(1_700_000_000_123 + number), updatedAt: new Date('2024-03-31T02:30:00.999Z') },
  }));
  const tokens = users.map(({ id, createdAt }, number) => ({
    ...{ id: products[number]?.id, userId: id, familyId: products[number + 50]?.id, tokenHash: `hash ${number}` },
    ...{
      expiresAt: new Date('2027-01-01T00:00:00.001Z'),
      usedAt: number % 2 ? createdAt : null,
      revokedAt: null,
      createdAt,
    },
  }));
  const rows: Record<(typeof tables)[number], object[]> = {
    ...{
      users: users.map(({ organizationId: _later, ...user }) => user),
      profiles: profileRecords(20),
      refresh_tokens: tokens,
      categories,
      products,
    },
  };
  for (const table of tables) for (const row of rows[table]) await insert(client, table, row);
}

async function insert(client: Client, table: string, row: object): Promise<void> {
  const columns = Object.keys(row).map((name) => `"${name}"`);
  const values = Object.values(row).map((value) => (value instanceof Date ? value.toISOString().slice(0, -1) : value));
  const places = values.map((_, index) => `$${index + 1}`);
  await client.query(`INSERT INTO ${table} (${columns.join()}) VALUES (${places.join()})`, values);
}

/** All rows, with moments as UTC and identifiers as text. */
async function contents(client: Client): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  for (const table of tables) {
    const { rows } = await client.query(`SELECT to_jsonb(t) AS row FROM ${table} t ORDER BY id::text`);
    found[table] = rows.map(({ row }) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, utc(value)])),
    );
  }
  return found;
}

function utc(value: unknown): unknown {
  const moment = typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+(\+00:00)?$/.test(value);
  return moment ? new Date(`${value.replace('+00:00', '')}Z`).getTime() : value;
}

/** A PostgreSQL database as the first release made it. */
async function firstRelease() {
  const { settings, remove } = await emptyDatabase('postgresql');
  await applyMigrations(settings, migrationsUntil('20261121160754_init'));
  const client = new Client({ connectionString: settings.DATABASE_URL });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await remove();
  });
  return { settings, client };
}

it('keeps every row and value of a PostgreSQL database of the first release, whatever the time zone of the server', async () => {
  const { settings, client } = await firstRelease();
  await fill(client);
  const before = await contents(client);
  const database = new URL(settings.DATABASE_URL).pathname.slice(1);
  await client.query(`ALTER DATABASE "${database}" SET timezone TO 'America/New_York'`);
  const converting = '20261122080917_uuid_and_timestamptz';
  expect(await applyMigrations(settings, migrationsUntil(converting))).toEqual([converting]);
  await client.query("SET timezone TO 'UTC'");
  expect(await contents(client)).toEqual(before);
  expect(before.products).toHaveLength(200);
  const types = await client.query(
    "SELECT DISTINCT data_type FROM information_schema.columns WHERE table_name = 'products' ORDER BY 1",
  );
  expect(types.rows.map(({ data_type }) => data_type)).toEqual(['integer', 'text', 'timestamp with time zone', 'uuid']);
  const open = await openDatabase(settings);
  onTestFinished(open.close);
  const [record] = [...productRecords(7, 8)];
  expect(await open.client.product.findUnique({ where: { sku: 'SKU-000008' } })).toEqual(record);
});

it('changes nothing when an identifier is no UUID, and says so', async () => {
  const { settings, client } = await firstRelease();
  const times = { createdAt: new Date(), updatedAt: new Date() };
  await insert(client, 'categories', { id: 'audio', name: 'Audio', ...times });
  await expect(applyMigrations(settings)).rejects.toThrow(
    /uuid_and_timestamptz failed: .*invalid input syntax for type uuid: "audio"/,
  );
  const { rows } = await client.query('SELECT id, pg_typeof(id)::text AS type FROM categories');
  expect(rows).toEqual([{ id: 'audio', type: 'text' }]);
});
