import { httpClient } from 'slipway';
import type { paths as PaymentsApi } from './payments.api.ts';

// A charge takes a few hundred bytes; many long answers at once would fill the memory.
const limits = { timeoutMs: 2000, retries: 2, maxBytes: 100_000 };

/** The payment provider. */
export const paymentProvider = httpClient<PaymentsApi>('payments', { url: 'PAYMENTS_URL', ...limits });
