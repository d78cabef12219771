import type { RequestHandler } from 'express';
import { beforeEach, describe, expect, it } from 'vitest';
import { readEnvironment } from '../../../src/chassis/config/environment.ts';
import type { Logger } from '../../../src/chassis/telemetry/logger.ts';
import { startTelemetry } from '../../../src/chassis/telemetry/start-telemetry.ts';
import { fakeCollector } from '../../../src/chassis/testing/fake-collector.ts';
import { exportingSettings, telemetryOptions } from '../../support/exporting-settings.ts';
import { type LogLine, memoryLog } from '../http/bare-app.ts';
import { headersEcho, tracedApp } from './tracing/traced-app.ts';

let logger: Logger;
let lines: LogLine[];
beforeEach(() => {
  ({ logger, lines } = memoryLog('info'));
});

describe('startTelemetry', () => {
  it('says where spans go, without credentials, and who owns the tracer provider', async () => {
    const settings = exportingSettings('http://user:word@collector.example:4318/otlp', {
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.1',
    });
    const telemetry = await startTelemetry(telemetryOptions(settings, logger));
    expect(telemetry.describe().tracing).toEqual({
      exportsTo: 'collector.example:4318',
      sampler: 'parentbased_traceidratio 0.1',
      tracerProvider: 'slipway',
    });
    await telemetry.close();
  });

  it.each([{ OTEL_SDK_DISABLED: 'true' }, { OTEL_TRACES_EXPORTER: 'none' }])(
    'exports nothing with %o',
    async (more) => {
      const telemetry = await startTelemetry(telemetryOptions(exportingSettings('http://127.0.0.1:1', more), logger));
      expect(telemetry.describe().tracing.exportsTo).toBeUndefined();
      await telemetry.close();
    },
  );

  it('tells a second service of the process that another exports, and its requests keep ids and pass their trace on', async () => {
    const [collector, other] = [await fakeCollector(), await fakeCollector()];
    const first = await startTelemetry(telemetryOptions(exportingSettings(collector.url), logger));
    const echo = await headersEcho();
    const settings = exportingSettings(other.url);
    const forward: RequestHandler = async (_req, res) => void res.json(await (await fetch(echo)).json());
    const second = await tracedApp(settings, forward, logger);
    expect(lines).toMatchObject([{ level: 'warn', msg: expect.stringContaining('another service of this process') }]);
    expect(second.telemetry.describe().tracing).toEqual({
      exportsTo: undefined,
      tracerProvider: 'of another service of this process',
    });
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const response = await fetch(`${second.url}/things/1`, { headers: { traceparent, 'x-request-id': 'r1' } });
    const sent = (await response.json()) as Record<string, string[]>;
    expect(sent['traceparent']).toEqual([expect.stringContaining('0af7651916cd43dd8448eb211c80319c')]);
    expect(sent['x-request-id']).toEqual(['r1']);
    await second.telemetry.close();
    expect(first.describe().tracing).toMatchObject({ tracerProvider: 'slipway' });
    await first.close();
    expect(other.spans).toEqual([]);
    const third = await startTelemetry(telemetryOptions(settings, logger));
    expect(third.describe().tracing.tracerProvider).toBe('slipway');
    await third.close();
  });

  it('is exported by one of two services that start at the same time, and the other is told so', async () => {
    const { url } = await fakeCollector();
    const start = () => startTelemetry(telemetryOptions(exportingSettings(url), logger));
    const both = await Promise.all([start(), start()]);
    expect(both.map((telemetry) => telemetry.describe().tracing.tracerProvider)).toEqual([
      'slipway',
      'of another service of this process',
    ]);
    expect(lines).toMatchObject([{ level: 'warn', msg: expect.stringContaining('another service of this process') }]);
    for (const telemetry of both) await telemetry.close();
  });

  it('writes protobuf unless told otherwise, with the name and attributes that the settings give the service', async () => {
    const collector = await fakeCollector();
    const settings = readEnvironment(
      {},
      {
        NODE_ENV: 'test',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/somewhere`,
        OTEL_SERVICE_NAME: 'shop-front',
        OTEL_RESOURCE_ATTRIBUTES: 'team=the%20shop,service.name=other',
      },
    );
    const { url, telemetry } = await tracedApp(settings, (_req, res) => void res.end());
    await fetch(`${url}/things/1`);
    await telemetry.close();
    expect(collector.bodies).toMatchObject([{ path: '/somewhere', contentType: 'application/x-protobuf' }]);
    for (const text of ['GET /api/things/:id', 'shop-front', 'the shop']) {
      expect(collector.bodies[0]?.bytes.includes(text)).toBe(true);
    }
  });
});

describe('a collector that is lost', () => {
  it.each([
    ['refuses', async () => 'http://127.0.0.1:1'],
    ['hangs', async () => (await fakeCollector({ hangs: true })).url],
  ])('and %s slows no request and the end by less than two seconds', async (_title, collectorUrl) => {
    const settings = exportingSettings(await collectorUrl(), { OTEL_BSP_SCHEDULE_DELAY: '1' });
    const { url, telemetry } = await tracedApp(settings, (_req, res) => void res.end(), logger);
    const slowest = await slowestOf(100, () => fetch(`${url}/things/1`));
    expect(slowest).toBeLessThan(1000);
    const closing = performance.now();
    await telemetry.close();
    expect(performance.now() - closing).toBeLessThan(2000);
    expect(lines.filter(({ msg }) => msg === 'exporting telemetry failed').length).toBeLessThan(3);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter(({ requestId }) => requestId !== undefined)).toEqual([]);
  });
});

async function slowestOf(count: number, request: () => Promise<Response>): Promise<number> {
  let slowest = 0;
  for (let done = 0; done < count; done += 1) {
    const started = performance.now();
    await (await request()).arrayBuffer();
    slowest = Math.max(slowest, performance.now() - started);
  }
  return slowest;
}

describe('the settings of tracing', () => {
  it('stop the start together with all others that do not hold', () => {
    const wrong = {
      PORT: 'x',
      OTEL_TRACES_SAMPLER: 'sometimes',
      OTEL_TRACES_SAMPLER_ARG: '10%',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'thrift',
      OTEL_PROPAGATORS: 'jaeger',
      OTEL_NODE_RESOURCE_DETECTORS: 'env,moon',
      OTEL_LOGS_EXPORTER: 'console',
      OTEL_METRICS_EXPORTER: 'zipkin',
      OUTBOUND_TRUSTED_HOSTS: 'a b',
      OTEL_RESOURCE_ATTRIBUTES: 'a',
      OTEL_TRACES_EXPORTER: 'jaeger',
    };
    const problems = () => readEnvironment({}, wrong);
    for (const name of Object.keys(wrong)) expect(problems).toThrow(new RegExp(`- ${name}: expected`));
  });

  it('stop the start where they contradict each other', () => {
    const read = (variables: Record<string, string>) => () => readEnvironment({}, variables);
    expect(read({ OTEL_TRACES_SAMPLER: 'always_on', OTEL_TRACES_SAMPLER_ARG: '0.5' })).toThrow(
      /OTEL_TRACES_SAMPLER_ARG/,
    );
    expect(read({ OTEL_BSP_MAX_QUEUE_SIZE: '10' })).toThrow(/OTEL_BSP_MAX_EXPORT_BATCH_SIZE: expected at most/);
  });
});
