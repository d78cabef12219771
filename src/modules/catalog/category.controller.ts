import { ResourceController } from 'slipway';
import { category, categoryList, createCategory, updateCategory } from './catalog.schema.ts';
import type { CategoryService } from './category.service.ts';

export class CategoryController extends ResourceController<CategoryService> {
  readonly schemas = { record: category, create: createCategory, update: updateCategory, list: categoryList };
}
