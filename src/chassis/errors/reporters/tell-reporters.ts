import type { RequestContext } from '../../context/request-context.ts';
import type { BaseException } from '../exceptions.ts';
import type { Reporter } from './reporter.ts';

/** Where the failure of a reporter is logged. */
export interface ReporterLog {
  error(line: object, message: string): void;
}

/** Tells every reporter of an exception. What one raises or rejects with is logged and keeps none of the others from it. */
export function tellReporters(
  reporters: readonly Reporter[],
  exception: BaseException,
  context: RequestContext | undefined,
  log: ReporterLog,
): void {
  for (const reporter of reporters) tellReporter(reporter, exception, context, log);
}

/** Logs a failure in the handling of another, which nothing may stop. */
export function logFailure(log: ReporterLog, failure: unknown, message: string): void {
  try {
    log.error({ err: failure }, message);
  } catch {
    // The logger may be what failed.
    process.emitWarning(message);
  }
}

function tellReporter(
  reporter: Reporter,
  exception: BaseException,
  context: RequestContext | undefined,
  log: ReporterLog,
): void {
  try {
    const outcome: unknown = reporter.report(exception, context);
    if (outcome instanceof Promise) outcome.catch((failure: unknown) => logFailure(log, failure, 'reporter failed'));
  } catch (failure) {
    logFailure(log, failure, 'reporter failed');
  }
}
