import { defineRoutes, resourceRouter } from 'slipway';

/**
 * @openapi
 * /stock: { x-resource: Stock }
 */
export default defineRoutes(({ stockController, auth }) =>
  resourceRouter('/stock', stockController, {
    read: auth.user({ scope: 'orders:read' }),
    write: auth.role('admin', { scope: 'orders:write' }),
    bulk: 100,
    requireVersion: true,
  }),
);
