import { signingSecrets, wholeNumber, type z } from 'slipway';
import { paymentProvider } from './payment-provider.client.ts';

/** Settings of the orders module, by the name of their environment variable. */
export const ordersSettings = {
  ...paymentProvider.settings,
  PAYMENTS_WEBHOOK_SECRET: signingSecrets('Signs the webhooks of the payment provider'),
  ORDERS_UNPAID_MINUTES: wholeNumber(1, 525_600, 60).describe('Minutes after which an unpaid order expires'),
};

declare global {
  namespace Slipway {
    interface Settings extends z.infer<z.ZodObject<typeof ordersSettings>> {}
  }
}
