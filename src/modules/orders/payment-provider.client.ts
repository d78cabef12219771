import { httpClient } from 'slipway';
import type { paths as PaymentsApi } from './payments.api.ts';

/** The payment provider. */
export const paymentProvider = httpClient<PaymentsApi>('payments', {
  url: 'PAYMENTS_URL',
  timeoutMs: 2000,
  retries: 2,
  // A charge takes a few hundred; many long answers at once would fill the memory.
  maxBytes: 100_000,
});
