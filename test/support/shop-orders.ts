import { afterAll, beforeAll, beforeEach } from 'vitest';
import { databaseProviders } from './empty-database.ts';
import { emptyShop, fillShop, type TenantShop, type tenantModels } from './tenant-shop.ts';

/** Each database with each reader, for `describe.each`. */
export const forms = databaseProviders.flatMap((provider) =>
  (['json', 'orm'] as const).map((reads) => ({ provider, reads })),
);

export const fields = { id: true, number: true };

/** A list of the orders of a shop, by id. */
export const list = (select: object, more: object = {}) =>
  ({ model: 'Order', select, orderBy: [{ id: 'asc' }], take: 100, ...more }) as never;

export const ids = (rows: readonly object[]) => rows.map((row) => (row as { id: number }).id);

type Models = Awaited<ReturnType<typeof tenantModels>>;

/** Opens a shop for the tests of a `describe`, each of which finds it filled anew. @param opened gets it */
export function withShop(
  models: Models,
  { provider, reads }: (typeof forms)[number],
  opened: (shop: TenantShop) => void,
) {
  let shop: TenantShop;
  beforeAll(async () => {
    shop = await models.open(provider, reads);
    opened(shop);
  });
  afterAll(() => shop.close());
  beforeEach(async () => {
    await emptyShop(shop);
    await fillShop(shop);
  });
}
