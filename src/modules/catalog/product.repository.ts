import { Repository } from '../../chassis/index.ts';

export class ProductRepository extends Repository<'product'> {
  protected readonly model = 'product';
}
