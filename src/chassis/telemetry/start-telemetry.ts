import type { Environment } from '../config/environment.ts';
import type { RequestObserver } from '../context/request-observer.ts';
import { monitorReporter, type Reporter } from '../errors/reporters/reporter.ts';
import type { Logger } from './logger.ts';
import type { SentryDescription, SentryTelemetry } from './sentry/start-sentry.ts';
import { startTracing } from './tracing/start-tracing.ts';
import { propagateJobTrace } from './tracing/trace-context.ts';
import type { JobTracer, TelemetryOptions, Tracing, TracingDescription } from './tracing/tracing.ts';

/** How long Sentry may take to send what waits, in milliseconds. */
const sentryCloseMs = 1500;

/** What is switched on and where it goes, without credentials. */
interface TelemetryDescription {
  tracing: TracingDescription;
  sentry: SentryDescription | 'of another service of this process' | 'off';
}

/** Tracing and the monitor of faults, as far as they are switched on. */
export interface Telemetry {
  /** Sees every request; to be added before all others, because it brings the ids of the trace. */
  readonly observer: RequestObserver;
  /** Gives runs of jobs their trace. */
  readonly jobs: JobTracer;
  /** For the error handler. */
  readonly reporters: readonly Reporter[];
  /** Reports what ends the process. */
  captureCrash(error: unknown): void;
  describe(): TelemetryDescription;
  /** Sends what waits, for less than two seconds, and ends; once, however often it is called. Never rejects. */
  close(): Promise<void>;
}

/**
 * Switches on what the settings ask for and loads nothing else: telemetry is exported where an OTLP endpoint is set,
 * faults are sent to Sentry where there is a DSN. Tracing comes first, so that events find the active span.
 */
export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { settings, logger } = options;
  const tracing = await startTracing(options);
  const isWanted = settings.SENTRY_DSN !== undefined;
  const sentry = isWanted ? await startSentry(settings, logger) : undefined;
  const withoutSentry = isWanted ? 'of another service of this process' : 'off';
  let closing: Promise<void> | undefined;
  return {
    observer: tracing.observer,
    jobs: tracing.jobs ?? propagateJobTrace,
    reporters: [...tracing.reporters, ...(sentry ? [monitorReporter(sentry.monitor)] : [])],
    captureCrash: (error) => sentry?.captureCrash(error),
    describe: () => ({ tracing: tracing.describe(), sentry: sentry?.describe() ?? withoutSentry }),
    close: () => {
      closing ??= closeAll(tracing, sentry);
      return closing;
    },
  };
}

async function closeAll(tracing: Tracing, sentry: SentryTelemetry | undefined): Promise<void> {
  await Promise.all([tracing.close(), sentry?.close(sentryCloseMs)]);
}

async function startSentry(settings: Environment, logger: Logger) {
  const sentry = await import('./sentry/start-sentry.ts');
  return sentry.startSentry(settings, logger);
}
