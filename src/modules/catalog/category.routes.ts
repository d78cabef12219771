import { defineRoutes, publicAccess, resourceRouter } from 'slipway';

/**
 * @openapi
 * /categories: { x-resource: Category, tags: [Catalog] }
 */
export default defineRoutes(({ categoryController, auth }) =>
  resourceRouter('/categories', categoryController, {
    read: publicAccess,
    write: auth.role('admin', { scope: 'catalog:write' }),
  }),
);
