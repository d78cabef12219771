import { Repository } from '../../chassis/index.ts';

export class CategoryRepository extends Repository<'category'> {
  protected readonly model = 'category';
}
