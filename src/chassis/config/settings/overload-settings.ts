import { z } from 'zod';
import { flag, isUrlOf, wholeNumber } from './setting-types.ts';

/** Limits on concurrent work, on its duration and on each client. */
export const overloadSettings = {
  OVERLOAD_ENABLED: flag(true).describe('Answer 503 at once to requests that would wait too long'),
  OVERLOAD_TARGET_MS: wholeNumber(10, 60_000, 500).describe(
    'How long admitted requests may wait for the event loop and the database, in milliseconds; during overload, requests that would wait longer get 503',
  ),
  OVERLOAD_MAX_CONCURRENCY: wholeNumber(1, 1_000_000, 5000).describe(
    'Requests at work at once, at most; bounds the memory that they take',
  ),
  REQUEST_TIMEOUT_MS: wholeNumber(10, 3_600_000, 30_000).describe(
    'How long a request may wait for its answer before it gets 503, in milliseconds',
  ),
  RATE_LIMIT_ENABLED: flag(true).describe('Answer 429 to clients that send too much'),
  RATE_LIMIT_REQUESTS: wholeNumber(1, 1_000_000_000, 5000).describe(
    'Requests that one client address may send within the window; a costly one counts as several',
  ),
  RATE_LIMIT_WINDOW_SECONDS: wholeNumber(1, 86_400, 10).describe('Window of that limit, in seconds'),
  REDIS_URL: z
    .string()
    .refine(
      (text) => /^rediss?:\/\/[^\s/?#]/.test(text) && isUrlOf(text, 'redis', 'rediss'),
      'expected redis://… or rediss://…, with a port from 1 to 65535 if any',
    )
    .optional()
    .describe(
      'Redis in which replicas of one OTEL_SERVICE_NAME share their rate limits; each counts by itself when unset',
    )
    .meta({ secret: true }),
};
