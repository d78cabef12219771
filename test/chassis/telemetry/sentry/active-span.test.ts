import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { SentryIngest } from '../../../../src/chassis/testing/sentry-ingest.ts';
import { bootTestApp } from '../../../support/boot-test-app.ts';

const ingest = await SentryIngest.start();
afterAll(() => ingest[Symbol.asyncDispose]());
const app = await bootTestApp({
  modulesDirectory: join(import.meta.dirname, '../../../fixtures/modules'),
  env: { SENTRY_DSN: ingest.dsn, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_TRACES_SAMPLER: 'always_on' },
  configure: (config) => ({ ...config, modules: [{ name: 'faults', enabled: true, routesPrefix: '/faults' }] }),
});

it('an event has the ids of the span that was active, for each of 20 at the same time', async () => {
  await Promise.all(Array.from({ length: 20 }, () => app.get('/faults/traced').expectError(500, 'in a span')));
  const events = await ingest.received(20);
  const active = events.map(({ contexts }) => contexts['operation']?.['active']);
  expect(events.map(({ contexts: { trace } }) => ({ traceId: trace.trace_id, spanId: trace.span_id }))).toEqual(active);
  expect(new Set(active.map((ids) => JSON.stringify(ids))).size).toBe(20);
  expect(JSON.stringify(active)).toMatch(/"spanId":"[0-9a-f]{16}"/);
});
