import { context, DiagLogLevel, diag, propagation, trace } from '@opentelemetry/api';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Logger } from '../logger.ts';
import { diagnosticLog } from './diagnostic-log.ts';
import { instrumentClients } from './instrument-clients.ts';
import { RequestContextManager } from './request-context-manager.ts';
import { serverSpans } from './server-spans.ts';
import { serviceResource } from './service-resource.ts';
import { exportTimeoutMs, spanExporter } from './span-exporter.ts';
import { spanReporter } from './span-reporter.ts';
import { spanSampler } from './span-sampler.ts';
import { newSpanId, newTraceId } from './trace-context.ts';
import type { Tracing, TracingSettings } from './tracing.ts';

/** The tracer providers that services of this process registered. */
const ours = new WeakSet<object>();

/** A little more than one export, and less than the two seconds that a collector may cost the end of the service. */
const closeTimeoutMs = exportTimeoutMs + 300;

/**
 * Records spans and exports them in batches, beside the requests: while a collector is dead or hangs they wait, up to
 * `OTEL_BSP_MAX_QUEUE_SIZE`, then they are dropped.
 *
 * Made of the parts of OpenTelemetry that are used: @opentelemetry/sdk-node, which holds all, takes 600 ms of CPU and
 * 75 MB to load, these take 110 ms and 26 MB.
 *
 * OpenTelemetry has one tracer provider for a process: undefined, and a warning, where another service of this process
 * exports its spans already.
 *
 * @throws Error where another SDK owns the tracer provider of the process
 */
export async function exportSpans(
  settings: TracingSettings,
  url: string,
  logger: Logger,
): Promise<Tracing | undefined> {
  if (isExporting()) {
    logger.warn(
      { exportsTo: new URL(url).host },
      'spans not exported: another service of this process owns the tracer provider; start only one with an OTLP endpoint',
    );
    return undefined;
  }
  const exporter = await spanExporter(settings, url);
  const provider = new TracerProvider({
    resource: serviceResource(settings),
    sampler: spanSampler(settings),
    idGenerator: { generateTraceId: newTraceId, generateSpanId: newSpanId },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        exportTimeoutMillis: exportTimeoutMs,
        scheduledDelayMillis: settings.OTEL_BSP_SCHEDULE_DELAY,
        maxQueueSize: settings.OTEL_BSP_MAX_QUEUE_SIZE,
        maxExportBatchSize: settings.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
      }),
    ],
  });
  register(provider, logger);
  const stopInstruments = instrumentClients();
  return {
    observer: serverSpans(provider.getTracer('slipway')),
    reporters: [spanReporter],
    describe: () => ({
      exportsTo: new URL(url).host,
      sampler: [settings.OTEL_TRACES_SAMPLER, settings.OTEL_TRACES_SAMPLER_ARG]
        .filter((part) => part !== undefined)
        .join(' '),
      tracerProvider: 'slipway',
    }),
    async close() {
      stopInstruments();
      await shutDown(provider, logger);
      unregister();
    },
  };
}

/** What is registered is a proxy, which knows for whom it stands. */
function isExporting(): boolean {
  const registered = trace.getTracerProvider() as { getDelegate?(): object };
  return ours.has(registered.getDelegate?.() ?? registered);
}

function register(provider: TracerProvider, logger: Logger): void {
  diag.setLogger(diagnosticLog(logger), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  if (!trace.setGlobalTracerProvider(provider) || !context.setGlobalContextManager(new RequestContextManager())) {
    throw new Error(
      'Expected to own the tracer provider of the process, found another OpenTelemetry SDK at work. ' +
        'Start without it (NODE_OPTIONS, --require, --import), or set OTEL_SDK_DISABLED=true or OTEL_TRACES_EXPORTER=none.',
    );
  }
  ours.add(provider);
  const propagators = [new W3CTraceContextPropagator(), new W3CBaggagePropagator()];
  propagation.setGlobalPropagator(new CompositePropagator({ propagators }));
}

function unregister(): void {
  trace.disable();
  context.disable();
  propagation.disable();
  diag.disable();
}

async function shutDown(provider: TracerProvider, logger: Logger): Promise<void> {
  const expired = Promise.withResolvers<void>();
  const timer = setTimeout(() => expired.reject(new Error(`No answer within ${closeTimeoutMs} ms`)), closeTimeoutMs);
  try {
    await Promise.race([provider.shutdown(), expired.promise]);
  } catch (error) {
    logger.warn({ err: error }, 'the last spans were not exported');
  } finally {
    clearTimeout(timer);
  }
}
