import { defineRoutes, resourceRouter } from 'slipway';

/**
 * @openapi
 * /stock: { x-resource: Stock }
 */
export default defineRoutes(({ stockController, auth }) =>
  resourceRouter('/stock', stockController, {
    read: auth.user(),
    write: auth.role('admin'),
    bulk: 100,
    requireVersion: true,
  }),
);
