import { BusinessException, ResourceService, type Selection } from 'slipway';
import type { CreateProduct, UpdateProduct } from './catalog.schema.ts';
import type { ProductRepository } from './product.repository.ts';

const highestPrice = 1_000_000_00;

export class ProductService extends ResourceService<ProductRepository> {
  /** The prices of those of these products that there are, by their ids. */
  async pricesOf(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const products = await this.repository.findMany({
      ...{ model: 'Product', where: { id: { in: ids } }, select: { id: true, price: true } },
      ...{ orderBy: [{ id: 'asc' }], take: ids.length },
    });
    return new Map(products.map(({ id, price }) => [id, price]));
  }

  override async create(input: CreateProduct, select?: Selection) {
    refuseHighPrice(input);
    return super.create(input, select);
  }

  override async update(id: string, input: UpdateProduct, select?: Selection) {
    refuseHighPrice(input);
    return super.update(id, input, select);
  }
}

function refuseHighPrice({ price }: UpdateProduct): void {
  if (price !== undefined && price > highestPrice) {
    throw new BusinessException('A product costs at most 1,000,000.00');
  }
}
