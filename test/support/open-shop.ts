import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { DatabaseProvider } from '../../src/chassis/database/client/database-url.ts';
import type { OpenOrm } from '../../src/chassis/database/client/orm.ts';
import { Repository } from '../../src/chassis/database/repository.ts';
import { openEmptyDatabase } from './empty-database.ts';

/** Categories, with what a module's author might add. */
export class CategoryRepository extends Repository<'category'> {
  protected readonly model = 'category';
  readonly #noted: string[] = [];

  /** Uses a member that only the class itself can reach. */
  async createNoted(name: string): Promise<readonly string[]> {
    await this.orm.category.create({ data: { name } });
    this.#noted.push(name);
    return this.#noted;
  }

  /** Two transactions of the client of the moment, one in each of the ORM's forms. */
  async createTogether(first: string, second: string): Promise<void> {
    await this.orm.$transaction([this.orm.category.create({ data: { name: first } })]);
    await this.orm.$transaction((transaction) => transaction.category.create({ data: { name: second } }));
  }

  /** The client of the moment, kept for later as nobody should. */
  keep(): { count(): Promise<number> } {
    return this.orm.category;
  }
}

/** Products, with a write that fails half-way. */
export class ProductRepository extends Repository<'product'> {
  protected readonly model = 'product';

  async updateWithMissingCategory(id: string): Promise<void> {
    const category = { connect: { id: '00000000-0000-4000-8000-000000000000' } };
    await this.orm.product.update({ where: { id }, data: { name: 'changed', category } });
  }
}

/** A query for the names of all categories, in their order. */
export const categoryNames = { model: 'Category', select: { name: true }, orderBy: [{ name: 'asc' }], take: 1000 };

/** Two repositories on a database of the tests that surround the call, without records before each of them. */
export interface Shop {
  readonly open: OpenOrm;
  readonly categories: CategoryRepository;
  readonly products: ProductRepository;
  /** The names of the stored categories, in their order. */
  stored(): Promise<string[]>;
  /** A product in a category of its own, called shelf. */
  aProduct(price: number): Promise<{ id: string }>;
}

/** Opens the shop for the tests of a `describe`. */
export function openShop(provider: DatabaseProvider): Shop {
  const shop = {} as { -readonly [K in keyof Shop]: Shop[K] };
  beforeAll(async () => {
    const open = await openEmptyDatabase(provider, { DATABASE_ACQUIRE_TIMEOUT_MS: 15_000 });
    const categories = new CategoryRepository({ orm: open.client });
    const products = new ProductRepository({ orm: open.client });
    const stored = async () => {
      const all = await open.client.category.findMany({ orderBy: { name: 'asc' } });
      return all.map(({ name }) => name);
    };
    const aProduct = async (price: number) => {
      const { id: categoryId } = await categories.create({ name: 'shelf' });
      return products.create({ sku: 'x', name: 'x', description: '', price, categoryId });
    };
    Object.assign(shop, { open, categories, products, stored, aProduct });
  });
  afterAll(() => shop.open.close());
  beforeEach(async () => {
    await shop.open.client.product.deleteMany();
    await shop.open.client.category.deleteMany();
  });
  return shop;
}
