/**
 * Fills a database with sample data, always the same. `npm run db:seed -- --size small|full`; start-up in development
 * calls `seed` too. Imports no file of src/, so that it works beside the sources and beside the build.
 */
import { argon2Sync } from 'node:crypto';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { chassis } from './chassis.ts';
import { endWithMessage } from './end-with-message.ts';
import { progressBar } from './progress-bar.ts';
import { categoryRecords, productRecords, profileRecords, userRecords } from './seed/records.ts';

/** Password of every seeded account, among them admin@example.com and user@example.com. Public knowledge. */
export const demoPassword = 'slipway-demo-password';

/** How many products each size has. Both have 50 categories and 200 users with profiles. */
export const productCounts = { small: 1_000, full: 100_000 } as const;

/** How much to seed, and who wants to know how far it is. */
export interface SeedOptions {
  size: keyof typeof productCounts;
  /** Called after each portion with the number of records stored or found, and of all. Default: a bar on a terminal. */
  progress?: (done: number, total: number) => void;
  /** Whether to make the accounts whose password everyone knows. Default: not when NODE_ENV is production. */
  accounts?: boolean;
}

type Orm = Slipway.Orm['client'];
type Records = readonly { id: string }[];

const userCount = 200;
/** As many products as PostgreSQL takes in one statement: 32,767 values. */
const portion = 4_000;

/**
 * Stores the sample data that is not there yet, so it can run again, also after it was interrupted. Once the last product
 * is stored it does nothing, so what was changed or deleted since stays so.
 */
export async function seed(orm: Orm, options: SeedOptions): Promise<void> {
  const { size, progress = progressBar('Seeding'), accounts = process.env.NODE_ENV !== 'production' } = options;
  const products = productCounts[size];
  const total = categoryRecords().length + (accounts ? 2 * userCount : 0) + products;
  let done = 0;
  const report = (stored: number) => {
    done += stored;
    progress(done, total);
  };
  if (await isStored(orm, products)) return;
  report(await storeMissing(orm.category, 'name', categoryRecords()));
  if (accounts) report(await seedAccounts(orm));
  const empty = (await orm.product.count()) === 0;
  for (let from = 0; from < products; from += portion) {
    report(
      await storeMissing(orm.product, 'sku', [...productRecords(from, Math.min(from + portion, products))], empty),
    );
  }
}

async function isStored(orm: Orm, products: number): Promise<boolean> {
  const [last] = productRecords(products - 1, products);
  return last !== undefined && (await orm.product.count({ where: { sku: last.sku } })) > 0;
}

/** A user whose address is taken by an account that somebody registered gets no profile either. */
async function seedAccounts(orm: Orm): Promise<number> {
  const users = userRecords(userCount, demoPasswordHash());
  const profiles = profileRecords(userCount);
  await storeMissing(orm.user, 'email', users);
  const stored = await orm.user.findMany({ where: { id: { in: users.map(({ id }) => id) } }, select: { id: true } });
  const ids = new Set(stored.map(({ id }) => id));
  await storeMissing(
    orm.profile,
    'userId',
    profiles.filter(({ userId }) => ids.has(userId)),
  );
  return users.length + profiles.length;
}

interface Delegate {
  findMany(query: object): Promise<Record<string, unknown>[]>;
  createMany(query: { data: unknown }): Promise<unknown>;
}

/** Stores the records whose unique `key` is not there, and returns how many were given. */
async function storeMissing(model: unknown, key: string, records: Records, empty = false): Promise<number> {
  const { findMany, createMany } = model as Delegate;
  const keyOf = (record: object) => (record as Record<string, unknown>)[key];
  const where = { [key]: { in: records.map(keyOf) } };
  const found = empty ? [] : await findMany({ where, select: { [key]: true } });
  const known = new Set(found.map(keyOf));
  const data = records.filter((record) => !known.has(keyOf(record)));
  if (data.length > 0) await createMany({ data });
  return records.length;
}

/** argon2id as the auth module makes it, with a fixed salt: a secret salt is of no use to a public password. */
function demoPasswordHash(): string {
  const [memory, passes, parallelism] = [19_456, 2, 1];
  const salt = Buffer.from('slipway demo salt');
  const message = Buffer.from(demoPassword);
  const hash = argon2Sync('argon2id', { message, nonce: salt, parallelism, tagLength: 32, memory, passes });
  const encoded = [salt, hash].map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encoded.join('$')}`;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { size: { type: 'string' } } });
  const size = values.size ?? 'small';
  if (size !== 'small' && size !== 'full') throw new Error(`Expected --size small or --size full, got "${size}".`);
  const production = process.env.NODE_ENV === 'production';
  if (production && values.size === undefined) {
    throw new Error('In production sample data is stored only when asked for: name --size small or --size full.');
  }
  const [{ environment }, { connectOrm }] = await Promise.all([chassis('config/environment'), chassis('database/orm')]);
  const { client, close } = await connectOrm(environment());
  try {
    await seed(client, { size });
    const accounts = production ? 'no accounts' : `accounts admin@example.com and user@example.com (${demoPassword})`;
    console.log(`Stored: ${productCounts[size].toLocaleString('en')} products, ${accounts}.`);
  } finally {
    await close();
  }
}

if (import.meta.main) await main().catch(endWithMessage);
