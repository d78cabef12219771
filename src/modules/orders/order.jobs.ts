import { defineJobs, every, on } from 'slipway';

export default defineJobs(({ orderService, paymentService }) => [
  every('30s', 'expire-unpaid-orders', ({ signal }) => orderService.expireUnpaid(signal)),
  every('1m', 'settle-abandoned-payments', ({ signal }) => paymentService.settleAbandoned(signal)),
  on('order.placed', (order) => orderService.noteShortage(order)),
]);
