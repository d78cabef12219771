import { z } from 'zod';
import { flag, isUrlOf } from './setting-types.ts';

const dsnForm = /^https?:\/\/\w+(:\w+)?@(\[[\da-fA-F:.]+\]|[\w.-]+)(:\d{1,5})?\/([\w./-]+\/)?\d+$/;

/** Where faults are reported to; without a DSN nowhere. */
export const sentrySettings = {
  SENTRY_DSN: z
    .string()
    .refine(
      (text) => dsnForm.test(text) && isUrlOf(text, 'https', 'http'),
      'expected https://<public key>@<host>/<project number>, as in the settings of the Sentry project',
    )
    .optional()
    .describe('Where unexpected faults are reported; Sentry is not loaded when unset')
    .meta({ secret: true }),
  SENTRY_ENVIRONMENT: z
    .string()
    .regex(/^(?!None$)[^\s/]{1,64}$/, 'expected 1 to 64 characters without blanks and slashes, and not None')
    .default('development')
    .describe('Environment that Sentry files events under; NODE_ENV when unset'),
  SENTRY_RELEASE: z
    .string()
    .regex(/^(?!\.{1,2}$)[^\s/\\]{1,200}$/, 'expected 1 to 200 characters without blanks and slashes')
    .optional()
    .describe('Release that Sentry files events under; `name@version` of package.json and SOURCE_REVISION when unset'),
  SENTRY_SAMPLE_RATE: z
    .string()
    .regex(/^(0?\.\d{1,9}|0|1(\.0{1,9})?)$/, 'expected a number from 0 to 1')
    .transform(Number)
    .default(1)
    .describe('Share of faults that are sent, from 0 to 1'),
  SENTRY_SEND_CLIENT_ADDRESS: flag(false).describe("Send the client's address to Sentry"),
};
