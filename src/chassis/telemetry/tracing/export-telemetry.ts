import { context, DiagLogLevel, diag, logs, metrics, propagation, trace } from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { PrismaInstrumentation } from '@prisma/instrumentation';
import { type Logger, tapLog } from '../logger.ts';
import { boundAnswersToExports } from './bounded-answers.ts';
import { clientSpans, passOnButExports } from './client-spans.ts';
import { diagnosticLog } from './diagnostic-log.ts';
import { jobSpans } from './job-spans.ts';
import { logExporter } from './log-exporter.ts';
import { metricReader } from './metric-reader.ts';
import { RequestContextManager } from './request-context-manager.ts';
import { sdkVariables, serviceName, withVariables } from './sdk-variables.ts';
import { serverSpans } from './server-spans.ts';
import { spanReporter } from './span-reporter.ts';
import { spanSampler } from './span-sampler.ts';
import { newSpanId, newTraceId, propagateTrace } from './trace-context.ts';
import type { TelemetryOptions } from './tracing.ts';
import { collectorOf, exportedSignals, type Tracing, type TracingDescription } from './tracing.ts';

/** What a collector may cost the end of the service. */
const closeTimeoutMs = 1800;

/**
 * Exports spans, metrics and the log, as far as the settings say, in batches beside the requests: while a collector is dead
 * or hangs they wait, up to `OTEL_BSP_MAX_QUEUE_SIZE` spans, then they are dropped.
 *
 * OpenTelemetry's own SDK does it, with the variables of the service; ours are the server span, which costs a request less
 * than a patched `node:http`, the client spans, and the context, which is that of the request. Importing this file loads
 * the SDK: 40 ms of CPU and 13 MB from the build, several times that from source.
 */
export async function exportTelemetry(options: TelemetryOptions): Promise<Tracing> {
  const { settings, logger, variables } = options;
  const signals = new Set(exportedSignals(settings));
  const hasSpans = signals.has('TRACES');
  diag.setLogger(diagnosticLog(logger), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const makeReader = signals.has('METRICS') ? await metricReader(settings, options.metrics) : undefined;
  const prisma = new PrismaInstrumentation({ ignoreSpanTypes: ['prisma:client:serialize'] });
  const sdk = withVariables(sdkVariables(settings, variables), () => {
    const made = new NodeSDK({
      serviceName: serviceName(settings),
      contextManager: new RequestContextManager(),
      sampler: spanSampler(settings),
      idGenerator: { generateTraceId: newTraceId, generateSpanId: newSpanId },
      instrumentations: [prisma],
      ...(!hasSpans && { spanProcessors: [] }),
      ...(makeReader && { metricReaders: [makeReader()] }),
    });
    made.start();
    return made;
  });
  const stopBounding = boundAnswersToExports();
  const tracer = trace.getTracer('slipway');
  const stopLog = signals.has('LOGS') ? tapLog(logger, logExporter(logs.getLogger('slipway'))) : undefined;
  return {
    observer: hasSpans ? serverSpans(tracer) : propagateTrace,
    reporters: hasSpans ? [spanReporter] : [],
    outgoing: hasSpans ? clientSpans(tracer) : passOnButExports,
    ...(hasSpans && { jobs: jobSpans(tracer) }),
    describe: () => describe(options),
    async close() {
      prisma.disable();
      stopLog?.();
      await shutDown(sdk, logger);
      stopBounding();
      for (const api of [trace, metrics, logs, context, propagation, diag]) api.disable();
    },
  };
}

function describe({ settings }: TelemetryOptions): TracingDescription {
  const signals = new Set(exportedSignals(settings));
  const { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: share } = settings;
  const hasSpans = signals.has('TRACES');
  return {
    exportsTo: hasSpans ? collectorOf(settings, 'TRACES') : undefined,
    ...(signals.has('METRICS') && { metricsTo: collectorOf(settings, 'METRICS') }),
    ...(signals.has('LOGS') && { logsTo: collectorOf(settings, 'LOGS') }),
    ...(hasSpans && { sampler: share === undefined ? sampler : `${sampler} ${share}` }),
    tracerProvider: hasSpans ? 'slipway' : 'none',
  };
}

async function shutDown(sdk: NodeSDK, logger: Logger): Promise<void> {
  const expired = Promise.withResolvers<void>();
  const timer = setTimeout(() => expired.reject(new Error(`No answer within ${closeTimeoutMs} ms`)), closeTimeoutMs);
  try {
    await Promise.race([sdk.shutdown(), expired.promise]);
  } catch (error) {
    logger.warn({ err: error }, 'final telemetry export failed');
  } finally {
    clearTimeout(timer);
  }
}
