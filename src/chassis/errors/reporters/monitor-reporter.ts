import type { RequestContext } from '../../context/request-context.ts';
import type { BaseException } from '../exceptions.ts';
import type { Reporter } from './reporter.ts';

/** An external monitor of unexpected faults, such as Sentry. */
export interface Monitor {
  capture(exception: BaseException, requestContext: RequestContext | undefined): void;
}

/**
 * A reporter that forwards only exceptions whose `isOperational` is false (spec.md: Handling, rule 4), because those
 * are faults that somebody has to look at.
 */
export function monitorReporter(monitor: Monitor): Reporter {
  return {
    report(exception, requestContext) {
      if (!exception.isOperational) return monitor.capture(exception, requestContext);
    },
  };
}
