import { describe, expect, it } from 'vitest';
import { readEnvironment } from '../../../../src/chassis/config/environment.ts';
import { startTelemetry } from '../../../../src/chassis/telemetry/start-telemetry.ts';
import { sdkVariables, withVariables } from '../../../../src/chassis/telemetry/tracing/sdk-variables.ts';
import { exportingSettings, telemetryOptions } from '../../../support/exporting-settings.ts';
import { memoryLog } from '../../http/bare-app.ts';

describe('the variables of the SDK', () => {
  it('are the settings, and what it knows beside them', () => {
    const variables = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20key%3D1',
      OTEL_RESOURCE_ATTRIBUTES: 'team=the%20shop',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_LOG_LEVEL: 'debug',
      OTEL_CONFIG_FILE: '/etc/otel.yaml',
    };
    expect(sdkVariables(readEnvironment({}, variables), variables)).toMatchObject({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20key%3D1',
      OTEL_RESOURCE_ATTRIBUTES: expect.stringMatching(/^service\.version=.*,team=the%20shop$/),
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_LOGS_EXPORTER: 'none',
    });
    const read = sdkVariables(readEnvironment({}, variables), variables);
    expect(Object.keys(read)).not.toContain('OTEL_LOG_LEVEL');
    expect(Object.keys(read)).not.toContain('OTEL_CONFIG_FILE');
  });

  it('are those of the process for a moment, also when that fails', () => {
    const env: Record<string, string | undefined> = { OTEL_OF_THE_PROCESS: 'x', HOME: '/' };
    const before = { ...env };
    const seen = withVariables({ OTEL_SERVICE_NAME: 'a' }, () => ({ ...env }), { env });
    expect(seen).toEqual({ OTEL_SERVICE_NAME: 'a', HOME: '/' });
    const fail = () => {
      throw new Error('no');
    };
    expect(() => withVariables({ OTEL_SERVICE_NAME: 'a' }, fail, { env })).toThrow('no');
    expect(env).toEqual(before);
  });

  it('that mean nothing here are warned about by name', async () => {
    const { logger, lines } = memoryLog('info');
    const variables = {
      OTEL_SERVICE_NAME: 'a',
      OTEL_EXPORTER_OTLP_HEADERS_FILE: '/run/secrets/headers',
      OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: '10',
      OTEL_CONFIG_FILE: '/etc/otel.yaml',
      OTEL_EXPORTER_JAEGER_ENDPOINT: 'http://jaeger',
      OTEL_UNSET: '',
    };
    const telemetry = await startTelemetry(telemetryOptions(exportingSettings(undefined), logger, variables));
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      ['warn', 'variables without effect: OTEL_CONFIG_FILE, OTEL_EXPORTER_JAEGER_ENDPOINT'],
    ]);
    await telemetry.close();
  });
});
