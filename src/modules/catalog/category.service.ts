import { ResourceService } from 'slipway';
import type { CategoryRepository } from './category.repository.ts';

export class CategoryService extends ResourceService<CategoryRepository> {}
