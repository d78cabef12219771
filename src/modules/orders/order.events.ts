import { defineEvents, type EventsOf, z } from 'slipway';

const events = defineEvents({
  'order.placed': {
    data: z.object({ orderId: z.uuid(), tenantId: z.uuid(), productIds: z.array(z.uuid()) }),
    key: 'orderId',
  },
  'order.paid': { data: z.object({ orderId: z.uuid() }), key: 'orderId' },
});

export default events;

declare global {
  namespace Slipway {
    interface Events extends EventsOf<typeof events> {}
  }
}
