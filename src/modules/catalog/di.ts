import { type Provided, provide, resource } from 'slipway';
import { CategoryController } from './category.controller.ts';
import { CategoryRepository } from './category.repository.ts';
import { CategoryService } from './category.service.ts';
import { ProductController } from './product.controller.ts';
import { ProductRepository } from './product.repository.ts';
import { ProductService } from './product.service.ts';

const dependencies = {
  ...resource('category', {
    repository: CategoryRepository,
    service: CategoryService,
    controller: CategoryController,
  }),
  ...resource('product', { repository: ProductRepository, service: ProductService, controller: ProductController }),
};

export const registerDependencies = provide(dependencies);

declare global {
  namespace Slipway {
    interface Cradle extends Provided<typeof dependencies> {}
  }
}
