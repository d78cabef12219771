import type { Logger } from 'pino';
import { onTestFinished } from 'vitest';
import type { RequestContext } from '../../../../src/chassis/context/request-context.ts';
import {
  type SentrySettings,
  type SentryTelemetry,
  startSentry,
} from '../../../../src/chassis/telemetry/sentry/start-sentry.ts';
import { memoryLog } from '../../http/bare-app.ts';
import { sentrySettings } from './sentry-settings.ts';

/** Sentry, closed at the end of the test. */
export async function sentryTo(
  dsn: string,
  changes: Partial<SentrySettings> = {},
  logger: Logger = memoryLog().logger,
): Promise<SentryTelemetry> {
  const sentry = await startSentry(sentrySettings(dsn, changes), logger);
  if (!sentry) throw new Error('Expected Sentry to start, found another test that has not closed its own.');
  onTestFinished(async () => void (await sentry.close(100)));
  return sentry;
}

/** The context of a request; `changes` replace what a test is about. */
export function aContext(changes: Partial<RequestContext> = {}): RequestContext {
  return {
    requestId: 'request-1',
    method: 'GET',
    url: '/things/1',
    route: '/things/:id',
    ipAddress: '203.0.113.9',
    startTime: new Date(),
    ...changes,
  };
}
