import { expect, it, onTestFinished } from 'vitest';
import { ErrorReports } from '../../../../src/chassis/errors/reporters/error-reports.ts';
import type { JobPlan } from '../../../../src/chassis/jobs/job-plan.ts';
import { runJob } from '../../../../src/chassis/jobs/run-job.ts';
import { startTelemetry } from '../../../../src/chassis/telemetry/start-telemetry.ts';
import { fakeCollector } from '../../../../src/chassis/testing/fake-collector.ts';
import { exportingSettings, telemetryOptions } from '../../../support/exporting-settings.ts';
import { recordingLogger } from '../../../support/log-lines.ts';
import { headersEcho } from './traced-app.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

it('a run of a job has a span below that of its sender, with the calls and the failure of the run in it', async () => {
  const collector = await fakeCollector();
  const echo = await headersEcho();
  const { logger, lines } = recordingLogger();
  const options = telemetryOptions(exportingSettings(collector.url), logger);
  const telemetry = await startTelemetry(options);
  onTestFinished(() => telemetry.close());
  const errors = new ErrorReports(logger, telemetry.reporters);
  const witnesses = { logger, metrics: options.metrics.jobs, errors, tracer: telemetry.jobs };
  const work = async () => {
    await fetch(echo);
    throw new Error('no money');
  };
  const plan = { name: 'charge', timeLimitMs: 10_000, attempts: 5, work } as unknown as JobPlan;
  const data = { payload: null, traceparent: `00-${traceId}-${spanId}-01` };
  const job = { id: 'id-1', queue: 'charge', attempt: 2, dueAt: new Date(), data };
  await runJob(plan, job, witnesses, new AbortController().signal);
  await collector.until(() => collector.spans.length > 1);
  const span = collector.spans.find(({ name }) => name === 'job charge');
  const consumer = 5;
  expect(span).toMatchObject({ kind: consumer, traceId, parentSpanId: spanId, status: { code: 2 } });
  expect(span?.attributes).toEqual({
    'messaging.operation.type': 'process',
    'messaging.destination.name': 'charge',
    'messaging.message.id': 'id-1',
    'slipway.job.attempt': 2,
    'slipway.job.outcome': 'failed',
  });
  expect(span?.events[0]?.attributes['exception.message']).toBe('no money');
  expect(collector.spans.find(({ name }) => name === 'GET')).toMatchObject({ traceId, parentSpanId: span?.spanId });
  expect(lines.at(-1)).toMatchObject({ msg: 'job failed', traceId });
});
