import { defineRoutes, handle, idempotent, resourceRouter } from 'slipway';

/**
 * @openapi
 * /orders: { x-resource: Order }
 * /orders/export.csv:
 *   get:
 *     operationId: exportOrders
 *     summary: Export all orders of the caller
 *     responses: { 200: { description: A line for each order, content: { text/csv: { schema: { type: string } } } } }
 * /orders/{id}/place:
 *   post: { operationId: placeOrder, summary: Place a draft and take its stock, x-data: Order, responses: { 409: {}, 412: {} } }
 * /orders/{id}/cancel:
 *   post: { operationId: cancelOrder, summary: Cancel an order and give back its stock, x-data: Order, responses: { 409: {}, 412: {} } }
 * /orders/{id}/events:
 *   get:
 *     operationId: followOrder
 *     summary: Follow the state of an order
 *     responses: { 200: { description: Server-Sent Events, content: { text/event-stream: { schema: { type: string } } } } }
 */
export default defineRoutes(({ orderController, auth }) => {
  const read = auth.user({ scope: 'orders:read' });
  const write = auth.user({ scope: 'orders:write' });
  const router = resourceRouter('/orders', orderController, { read, write, idempotent: idempotent() });
  router.get('/orders/export.csv', read, handle(orderController, 'export'));
  router.get('/orders/:id/events', read, handle(orderController, 'events'));
  const once = idempotent({ unitOfWork: { isolation: 'read-committed', retries: 3 } });
  router.post('/orders/:id/place', write, once, orderController.action('place'));
  router.post('/orders/:id/cancel', write, orderController.action('cancel'));
  return router;
});
