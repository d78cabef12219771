import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { fakeCollector } from '../../src/chassis/testing/fake-collector.ts';
import { builtFixture } from '../support/built.ts';
import { killSpawned, SpawnedService } from '../support/spawn-service.ts';

const agent = join(import.meta.dirname, '../fixtures/injected-sdk/agent.cjs');

afterAll(killSpawned);

it('an SDK that NODE_OPTIONS injects, with an older API than that of the service, is used with a warning', async () => {
  const collector = await fakeCollector();
  const service = new SpawnedService({
    program: [builtFixture('observed')],
    env: {
      ...{ NODE_OPTIONS: `--require=${agent}`, OTEL_BSP_SCHEDULE_DELAY: '50' },
      ...{ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
      ...{ ENABLE_OPENAPI: 'false', DATABASE_MIGRATE: 'true', CARRIER_URL: 'http://127.0.0.1:9' },
    },
  });
  const { url } = await service.ready();
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const response = await fetch(`${url}/api/v1/shipments/7/label`, { headers: { traceparent } });
  expect(response.status).toBe(500);
  const name = 'GET /api/v1/shipments/:id/label';
  await collector.until(() => collector.spans.some((span) => span.name === name));
  const { code } = await service.end();
  expect(code).toBe(0);
  expect(service.lines.find(({ msg }) => msg.startsWith('another OpenTelemetry SDK'))).toMatchObject({ level: 'warn' });

  const span = collector.spans.find((one) => one.name === name);
  expect(span).toMatchObject({
    ...{ scope: '@opentelemetry/instrumentation-http', service: 'injected', kind: 2 },
    ...{ traceId: traceparent.split('-')[1], parentSpanId: traceparent.split('-')[2] },
    attributes: { 'http.route': '/api/v1/shipments/:id/label' },
  });
  expect(span?.events.map(({ attributes }) => [attributes['exception.type'], attributes['exception.message']])).toEqual(
    [['TypeError', "Cannot read properties of undefined (reading 'name')"]],
  );
  expect(collector.spans).toContainEqual(
    expect.objectContaining({ name: 'findMany Category', traceId: span?.traceId, parentSpanId: span?.spanId }),
  );
  const requestId = response.headers.get('x-request-id');
  const line = service.lines.find((one) => one['requestId'] === requestId && one.msg === 'request completed');
  expect(line).toMatchObject({ traceId: span?.traceId, spanId: span?.spanId });
});
