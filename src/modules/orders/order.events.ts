import { defineEvents, type EventsOf, z } from 'slipway';

const paid = z.object({ orderId: z.uuid() });
const placed = paid.extend({ tenantId: z.uuid(), productIds: z.array(z.uuid()) });

const events = defineEvents({
  'order.placed': { data: placed, key: 'orderId' },
  'order.paid': { data: paid, key: 'orderId' },
});

export default events;

declare global {
  namespace Slipway {
    interface Events extends EventsOf<typeof events> {}
  }
}
