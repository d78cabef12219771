/**
 * Sample data, always the same. `npm run db:seed -- --size small|full` stores it, and a start in development.
 */
import { argon2Sync } from 'node:crypto';
import { unscoped } from 'slipway';
import { progressBar } from './progress-bar.ts';
import { sampleExamples } from './seed/examples.ts';
import {
  categoryRecords,
  orderLineRecords,
  orderRecords,
  productRecords,
  profileRecords,
  stockRecords,
  userRecords,
} from './seed/records.ts';

/** Password of every seeded account, among them admin@example.com and user@example.com. Public knowledge. */
export const demoPassword = 'slipway-demo-password';

/** What a start in development tells of the accounts. */
export const demoAccount = `admin@example.com, ${demoPassword}`;

/** What the API page offers in development, by operation id; asked for whenever the page is loaded. */
export const examples = (orm: Orm) => sampleExamples(orm, demoPassword);

/**
 * How many products each size has. Both have 50 categories with products and one without, and 200 users, of which the
 * last has no profile, so that one can be created.
 */
export const productCounts = { small: 1_000, full: 100_000 } as const;

/** How much to seed, and who wants to know how far it is. */
export interface SeedOptions {
  size: keyof typeof productCounts;
  /** Called after each portion with the number of records stored or found, and of all. Default: a bar on a terminal. */
  progress?: (done: number, total: number) => void;
  /** Whether to make the accounts whose password everyone knows; never in production. */
  accounts: boolean;
  /** Stores nothing where there is a user, a category or a product already. Default false. */
  onlyWhenEmpty?: boolean;
}

type Orm = Slipway.Orm['client'];
type Records = readonly { id: string }[];

const userCount = 200;
const profileCount = userCount - 1;
/** The ORM keeps what its last hundred messages for debugging named, among it the plans of some twenty statements of this size. */
const portion = 500;
/** How often a portion is tried again after another process stored some of it. */
const attempts = 5;

/**
 * Stores the sample data that is not there yet, so it can run again, also after it was interrupted. Once the last product
 * is stored it does nothing, so what was changed or deleted since stays so. Returns what there is then.
 */
export async function seed(orm: Orm, options: SeedOptions): Promise<string> {
  await storeSampleData(orm, options);
  const accounts = `accounts admin@example.com and user@example.com (${demoPassword})`;
  const count = productCounts[options.size].toLocaleString('en');
  return `There are ${count} sample products and ${options.accounts ? accounts : 'no accounts'}.`;
}

async function storeSampleData(orm: Orm, options: SeedOptions): Promise<void> {
  const { size, accounts, onlyWhenEmpty = false, progress = progressBar('Seeding') } = options;
  const products = productCounts[size];
  const total = categoryRecords().length + (accounts ? userCount + profileCount : 0) + products;
  let done = 0;
  const report = (stored: number) => {
    done += stored;
    progress(done, total);
  };
  if (onlyWhenEmpty ? !(await isEmpty(orm)) : await isStored(orm, products)) return;
  report(await storeMissing(orm.category, 'name', categoryRecords()));
  if (accounts) report(await seedAccounts(orm));
  for (let from = 0; from < products; from += portion) {
    report(await storeMissing(orm.product, 'sku', [...productRecords(from, Math.min(from + portion, products))]));
  }
  if (accounts) await unscoped('sample data of all tenants', () => seedOrders(orm));
}

async function isEmpty(orm: Orm): Promise<boolean> {
  const counts = await Promise.all([orm.user.count(), orm.category.count(), orm.product.count()]);
  return counts.every((count) => count === 0);
}

async function isStored(orm: Orm, products: number): Promise<boolean> {
  const [last] = productRecords(products - 1, products);
  return last !== undefined && (await orm.product.count({ where: { sku: last.sku } })) > 0;
}

/** A user whose address is taken by an account that somebody registered gets no profile either. */
async function seedAccounts(orm: Orm): Promise<number> {
  const users = userRecords(userCount, demoPasswordHash());
  const profiles = profileRecords(profileCount);
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

/** What belongs to the organizations of the sample accounts. */
async function seedOrders(orm: Orm): Promise<void> {
  await storeMissing(orm.stock, 'id', stockRecords());
  await storeMissing(orm.order, 'id', orderRecords());
  await storeMissing(orm.orderLine, 'id', orderLineRecords());
}

interface Delegate {
  findMany(query: object): Promise<Record<string, unknown>[]>;
  createMany(query: { data: unknown }): Promise<unknown>;
}

/**
 * Stores the records whose unique `key` is not there, and returns how many were given. Where another process stores the
 * same records meanwhile, one of the two is refused, looks again and finds them.
 */
async function storeMissing(model: unknown, key: string, records: Records): Promise<number> {
  const { findMany, createMany } = model as Delegate;
  const keyOf = (record: object) => (record as Record<string, unknown>)[key];
  const where = { [key]: { in: records.map(keyOf) } };
  for (let left = attempts; ; left--) {
    const found = await findMany({ where, select: { [key]: true } });
    const known = new Set(found.map(keyOf));
    const data = records.filter((record) => !known.has(keyOf(record)));
    try {
      if (data.length > 0) await createMany({ data });
      return records.length;
    } catch (error) {
      if (left === 0 || (error as Error).name !== 'ConflictException') throw error;
    }
  }
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
