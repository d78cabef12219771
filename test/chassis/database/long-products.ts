import type { DatabaseProvider } from '../../../src/chassis/database/client/database-url.ts';
import type { DatabaseSettings } from '../../../src/chassis/database/client/orm.ts';
import { Repository } from '../../../src/chassis/database/repository.ts';
import { productList } from '../../fixtures/service/modules/catalog/catalog.schema.ts';
import { openEmptyDatabase } from '../../support/empty-database.ts';

class Products extends Repository<'product'> {
  protected readonly model = 'product';
}

/** What one result may bring in these tests: less than all products, more than half of them. */
export const mostBytes = 3_000_000;

/** Opens a database with 400 products of 10,000 characters each; `hasRoom` says whether there is memory for long lists. */
export async function openLongProducts(
  provider: DatabaseProvider,
  settings: Partial<DatabaseSettings>,
  hasRoom: () => boolean,
) {
  const open = await openEmptyDatabase(provider, settings, { reads: { mostBytes, hasRoom } });
  const products = new Products({ orm: open.client });
  const { id: categoryId } = await open.client.category.create({ data: { name: 'shelf' } });
  const data = Array.from({ length: 400 }, (_, index) => {
    return { sku: `sku ${index}`, name: 'n', price: index, categoryId, description: 'x'.repeat(10_000) };
  });
  await open.client.product.createMany({ data });
  const list = (take: number, price = -1) => {
    const where = { price: { gt: price } } as never;
    return products.findMany({ model: 'Product', select: productList.select, orderBy: [{ id: 'asc' }], where, take });
  };
  return { open, list };
}
