import { defineRoutes, publicAccess, resourceRouter } from '../../chassis/index.ts';

/**
 * @openapi
 * /products: { x-resource: Product, tags: [Catalog] }
 */
export default defineRoutes(({ productController, auth }) =>
  resourceRouter('/products', productController, { read: publicAccess, write: auth.role('admin') }),
);
