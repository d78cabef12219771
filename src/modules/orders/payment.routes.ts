import { defineRoutes, handle, idempotent, resourceRouter, signedBy } from 'slipway';

/**
 * @openapi
 * /payments: { x-resource: Payment }
 * /orders/{id}/pay:
 *   post: { operationId: payOrder, summary: Pay for an order, x-data: Order, responses: { 409: {}, 412: {}, 502: {}, 504: {} } }
 * /webhooks/payments:
 *   post:
 *     operationId: settlePayment
 *     summary: Take the outcome of a payment from its provider
 *     x-body: PaymentNotice
 *     responses: { 204: { description: Taken }, 404: {}, 409: {} }
 */
export default defineRoutes(({ orderController, paymentController, paymentService, auth }) => {
  const router = resourceRouter('/payments', paymentController, { read: auth.user({ scope: 'orders:read' }) });
  const signed = signedBy({ header: 'X-Signature', secret: 'PAYMENTS_WEBHOOK_SECRET' });
  const pay = orderController.action((id) => paymentService.pay(id));
  router.post('/orders/:id/pay', auth.user({ scope: 'orders:write' }), idempotent({ unitOfWork: false }), pay);
  router.post('/webhooks/payments', signed, handle(paymentController, 'settled'));
  return router;
});
