import { ResourceController } from 'slipway';
import { createProduct, product, productList, updateProduct } from './catalog.schema.ts';
import type { ProductService } from './product.service.ts';

export class ProductController extends ResourceController<ProductService> {
  readonly schemas = { record: product, create: createProduct, update: updateProduct, list: productList };
}
