import { context, propagation, trace } from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace';
import express from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { errorHandler } from '../../../../src/chassis/http/answers/error-handler.ts';
import { requestPipeline } from '../../../../src/chassis/http/pipeline/request-pipeline.ts';
import { startTelemetry } from '../../../../src/chassis/telemetry/start-telemetry.ts';
import { exportingSettings, telemetryOptions } from '../../../support/exporting-settings.ts';
import { memoryLog, throwing } from '../../http/bare-app.ts';
import { listening } from '../../http/listening.ts';

const exporter = new InMemorySpanExporter();
const sdk = new NodeSDK({
  metricReaders: [],
  logRecordProcessors: [],
  spanProcessors: [new SimpleSpanProcessor({ exporter })],
});

afterEach(async () => {
  await sdk.shutdown();
  for (const api of [trace, context, propagation]) api.disable();
});

describe('an SDK that was started before, as the Operator does', () => {
  it('is used: the service starts with a warning, and requests are part of its spans', async () => {
    sdk.start();
    const { logger, lines } = memoryLog('info');
    const telemetry = await startTelemetry(telemetryOptions(exportingSettings('http://127.0.0.1:1'), logger));
    expect(lines).toMatchObject([{ level: 'warn', msg: expect.stringContaining('another OpenTelemetry SDK') }]);
    expect(telemetry.describe().tracing).toEqual({ exportsTo: undefined, tracerProvider: 'of another SDK' });
    const app = express().use(requestPipeline({ observers: [telemetry.observer] }));
    app.get('/things/:id', throwing(new RangeError('no such number')));
    app.use(errorHandler({ logger, production: true, reporters: telemetry.reporters }));
    // What an instrumentation of node:http does.
    const tracer = trace.getTracer('foreign');
    const traced = (req: never, res: never) =>
      tracer.startActiveSpan('GET', (span) => {
        (res as { on(event: string, listener: () => void): void }).on('close', () => setImmediate(() => span.end()));
        (app as unknown as (...request: never[]) => void)(req, res);
      });
    const { createServer } = await import('node:http');
    await using server = await listening(createServer(traced as never));
    const response = await fetch(`http://127.0.0.1:${server.port}/things/1`);
    expect(response.status).toBe(500);
    await expect.poll(() => exporter.getFinishedSpans().length).toBe(1);
    const [span] = exporter.getFinishedSpans();
    expect(span).toMatchObject({ name: 'GET /things/:id', attributes: { 'http.route': '/things/:id' } });
    expect(span?.events.map(({ attributes }) => attributes?.['exception.message'])).toContain('no such number');
    await telemetry.close();
    expect(trace.getTracer('foreign').startSpan('x').isRecording()).toBe(true);
  });
});
