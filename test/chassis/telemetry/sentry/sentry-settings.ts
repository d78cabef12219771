import type { SentrySettings } from '../../../../src/chassis/telemetry/sentry/start-sentry.ts';

/** The settings of Sentry in a test; `changes` replace what it is about. */
export function sentrySettings(dsn: string, changes: Partial<SentrySettings> = {}): SentrySettings {
  return {
    SENTRY_DSN: dsn,
    SENTRY_ENVIRONMENT: 'test',
    SENTRY_RELEASE: 'slipway@tests',
    SENTRY_SAMPLE_RATE: 1,
    SENTRY_SEND_CLIENT_ADDRESS: false,
    ...changes,
  };
}
