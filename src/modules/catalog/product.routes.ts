import { defineRoutes, publicAccess, resourceRouter } from 'slipway';

/**
 * @openapi
 * /products: { x-resource: Product, tags: [Catalog] }
 */
export default defineRoutes(({ productController, auth }) =>
  resourceRouter('/products', productController, {
    read: publicAccess,
    write: auth.role('admin', { scope: 'catalog:write' }),
  }),
);
