import { Counter } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { registerMetric } from '../../../../src/chassis/index.ts';
import { createLogger } from '../../../../src/chassis/telemetry/logger.ts';
import { bootTestApp } from '../../../support/boot-test-app.ts';
import { OtlpCollector } from '../../../support/otlp-collector.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';

describe('a service that exports all it can', () => {
  it.each(['http/protobuf', 'http/json', 'grpc'] as const)('sends spans, metrics and logs by %s', async (protocol) => {
    const collector = await OtlpCollector.start();
    const before = { ...process.env };
    const app = await bootTestApp({
      env: {
        DATABASE_URL: 'none',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url(protocol),
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_METRICS_EXPORTER: 'otlp',
        OTEL_LOGS_EXPORTER: 'otlp',
        OTEL_METRIC_EXPORT_INTERVAL: '100',
        OTEL_BSP_SCHEDULE_DELAY: '10',
        OTEL_BLRP_SCHEDULE_DELAY: '10',
        OTEL_SERVICE_NAME: 'orders',
      },
      configure: (config) => ({ ...config, modules: [] }),
      logger: createLogger({ level: 'info', pretty: false, destination: { write: () => undefined } }),
    });
    app.service
      .run(() => registerMetric(new Counter({ name: 'parcels_total', help: 'Parcels.', registers: [] })))
      .inc();
    await app.send((server) => server.get('/nowhere').set('traceparent', `00-${traceId}-b7ad6b7169203331-01`));
    await collector.until(
      () =>
        collector.spans.length > 0 &&
        collector.logs.some((log) => log.traceId === traceId) &&
        collector.metrics.length > 60,
    );
    expect(collector.spans).toMatchObject([
      { name: 'GET', traceId, parentSpanId: 'b7ad6b7169203331', service: 'orders' },
    ]);
    expect(collector.metrics).toEqual(
      expect.arrayContaining([
        { name: 'http_request_duration_seconds', type: 'histogram' },
        { name: 'http_requests_in_flight', type: 'gauge' },
        { name: 'process_cpu_seconds_total', type: 'sum' },
        { name: 'parcels_total', type: 'sum' },
      ]),
    );
    const line = collector.logs.find(({ body }) => body === 'No route GET /nowhere');
    expect(line).toMatchObject({
      traceId,
      severity: 'WARN',
      attributes: expect.arrayContaining(['requestId', 'status', 'exception']),
    });
    expect(new Set(collector.received.map((one) => one.protocol))).toEqual(new Set([protocol]));
    expect((await app.internal.get('/metrics')).text).toContain('parcels_total 1');
    expect(process.env).toEqual(before);
  });
});
