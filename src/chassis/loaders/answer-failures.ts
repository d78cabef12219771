import type { Express } from 'express';
import { environment } from '../config/environment.ts';
import { toDatabaseException } from '../database/database-errors.ts';
import { logReporter } from '../errors/reporters/log-reporter.ts';
import type { Reporter } from '../errors/reporters/reporter.ts';
import { errorHandler } from '../http/error-handler.ts';
import { notFound } from '../http/not-found.ts';
import { knownRoutes } from '../http/route-table.ts';
import { logger } from '../telemetry/logger.ts';

const finished = new WeakSet<Express>();

/**
 * The last steps of an app: answers what no route took, and what failed on the way (spec.md: Handling, rule 1). What is
 * mounted later is never reached.
 *
 * @param reporters receive every exception beside the log (spec.md: Handling, rule 4)
 */
export function answerFailures(app: Express, reporters: readonly Reporter[] = []): void {
  finished.add(app);
  app.use(notFound(knownRoutes(app)));
  app.use(
    errorHandler({
      reporters: [logReporter(logger()), ...reporters],
      production: environment().NODE_ENV === 'production',
      converters: [toDatabaseException],
    }),
  );
}

/** Adds the last steps when the first request comes, unless that was done: an app never answers with a page of HTML. */
export function answerFailuresAtLast(app: Express): void {
  const open = app as Express & { handle: (...request: unknown[]) => unknown };
  const { handle } = open;
  open.handle = function handleFirst(...request) {
    open.handle = handle;
    if (!finished.has(app)) answerFailures(app);
    return handle.apply(app, request);
  };
}
