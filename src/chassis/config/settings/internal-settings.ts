import { z } from 'zod';
import { flag, wholeNumber } from './setting-types.ts';

/** The port for operators, and what it tells. */
export const internalSettings = {
  INTERNAL_HOST: z.string().default('0.0.0.0').describe('Address of the internal server'),
  INTERNAL_PORT: wholeNumber(0, 65_535, 9464).describe(
    'Port of the internal server, for probes, metrics and the log level; 0 takes a free one',
  ),
  INTERNAL_TOKEN: z
    .string()
    .min(16, 'expected at least 16 characters')
    .optional()
    .describe(
      'Bearer token that changing the log level takes; without it only calls from the same pod or machine to localhost may',
    )
    .meta({ secret: true }),
  DIAGNOSTICS_ENABLED: flag(false).describe(
    'CPU profiles and heap snapshots on the internal port, for callers with INTERNAL_TOKEN; snapshots hold secrets',
  ),
  METRICS_SERIES_LIMIT: wholeNumber(1, 1_000_000, 2_000).describe('Label combinations that one metric keeps at most'),
  SOURCE_REVISION: z
    .string()
    .regex(/^[\w.+-]{1,64}$/, 'expected 1 to 64 letters, digits and . + - _')
    .optional()
    .describe('Commit that the service was built from, for metrics and /info; the image sets it'),
};
