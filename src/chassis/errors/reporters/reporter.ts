import type { RequestContext } from '../../context/request-context.ts';
import type { BaseException } from '../exceptions.ts';

/**
 * Receives every exception that answers a request (spec.md: Handling, rule 4), and what ends the process: that has no
 * request, and the process waits for a promise, for two seconds at most. What it raises is logged and never changes the
 * response.
 */
export interface Reporter {
  report(exception: BaseException, requestContext: RequestContext | undefined): void;
}

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
