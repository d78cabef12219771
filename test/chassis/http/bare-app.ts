import express, { type Express, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { ErrorConverter } from '../../../src/chassis/errors/convert-error.ts';
import { logReporter } from '../../../src/chassis/errors/reporters/log-reporter.ts';
import type { Reporter } from '../../../src/chassis/errors/reporters/reporter.ts';
import { errorHandler } from '../../../src/chassis/http/answers/error-handler.ts';
import { createLogger } from '../../../src/chassis/telemetry/logger.ts';

/** A line of a log, parsed. */
export type LogLine = Record<string, unknown> & { level: string; msg: string };

/** A logger whose lines stay in memory; `written` gets them as they are. */
export function memoryLog(level = 'trace', written?: (line: string) => void): { logger: Logger; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const write = (line: string) => {
    written?.(line);
    lines.push(JSON.parse(line));
  };
  const destination = { write };
  return { logger: createLogger({ level, pretty: false, destination }), lines };
}

interface BareAppOptions {
  production?: boolean;
  converters?: readonly ErrorConverter[];
  reporters?: readonly Reporter[];
  logger?: Logger;
}

/** An Express app of nothing but these steps and the error handler. */
export function bareApp(steps: readonly RequestHandler[], options: BareAppOptions = {}): Express {
  const { production = false, converters = [], logger = memoryLog().logger } = options;
  const app = express();
  for (const step of steps) app.use(step);
  app.use(errorHandler({ logger, production, converters, reporters: options.reporters ?? [logReporter(logger)] }));
  return app;
}

/** A step that throws what it is given. */
export function throwing(value: unknown): RequestHandler {
  return () => {
    throw value;
  };
}

/** A step that answers with the body that it got. */
export const echoBody: RequestHandler = (req, res) => {
  res.json({ body: req.body ?? null });
};
