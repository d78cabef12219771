import type { Express } from 'express';
import { logReporter } from '../../errors/reporters/log-reporter.ts';
import { type ErrorHandlerOptions, errorHandler } from './error-handler.ts';
import { knownRoutes, notFound } from './not-found.ts';

const finished = new WeakSet<Express>();

/**
 * The last steps of an app: answers what no route took, and what failed on the way (spec.md: Handling, rule 1). What is
 * mounted later is never reached.
 *
 * @param options.reporters receive every exception beside the log (spec.md: Handling, rule 4)
 */
export function mountErrorHandling(app: Express, { reporters = [], ...options }: ErrorHandlerOptions): void {
  finished.add(app);
  app.use(notFound(knownRoutes(app)));
  app.use(errorHandler({ ...options, reporters: [logReporter(options.logger), ...reporters] }));
}

/** Mounts error handling when the first request comes, unless that was done: an app never answers with a page of HTML. */
export function ensureErrorHandling(app: Express, options: ErrorHandlerOptions): void {
  const open = app as Express & { handle: (...request: unknown[]) => unknown };
  const { handle } = open;
  open.handle = function handleFirst(...request) {
    open.handle = handle;
    if (!finished.has(app)) mountErrorHandling(app, options);
    return handle.apply(app, request);
  };
}
