import { defineRoutes, handle, idempotent, resourceRouter } from 'slipway';

const locking = { isolation: 'read-committed', retries: 3 } as const;
const columns = ['number', 'status', 'note', 'placedAt', 'paidAt', 'createdAt'] as const;
const csv = { format: 'csv', filename: 'orders.csv', columns } as const;

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
  router.get('/orders/export.csv', read, orderController.streamAll(csv));
  router.get('/orders/:id/events', read, handle(orderController, 'events'));
  router.post('/orders/:id/place', write, idempotent({ unitOfWork: locking }), orderController.action('place'));
  router.post('/orders/:id/cancel', write, orderController.action('cancel'));
  return router;
});
