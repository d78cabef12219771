import { Repository } from 'slipway';

export class CategoryRepository extends Repository<'category'> {
  protected readonly model = 'category';
}
