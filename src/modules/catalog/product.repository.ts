import { Repository } from 'slipway';

export class ProductRepository extends Repository<'product'> {
  protected readonly model = 'product';
}
