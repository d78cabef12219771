import { ResourceService } from '../../chassis/index.ts';
import type { CategoryRepository } from './category.repository.ts';

export class CategoryService extends ResourceService<CategoryRepository> {}
