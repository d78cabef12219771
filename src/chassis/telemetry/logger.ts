import { createRequire } from 'node:module';
import { type DestinationStream, type Logger, type LoggerOptions, pino, symbols } from 'pino';
import { getRequestContext } from '../context/request-context.ts';
import { redact } from './redact.ts';

export type { Logger } from 'pino';

const flushIntervalMs = 500;

let current: Logger | undefined;
let standardOutput: (DestinationStream & { flushSync(): void }) | undefined;

/**
 * A logger that writes JSON lines to standard output, or readable ones with `pretty` where pino-pretty is installed.
 * Every line of a request carries its `requestId`; values under a secret's name are masked. JSON lines are buffered for
 * at most half a second: `flushLogger` writes them out, and so does the end of the process.
 *
 * @param options.level least severe level that is written; `silent` writes nothing
 * @param options.destination where lines go instead
 */
export function createLogger(options: {
  level: string;
  pretty: boolean;
  destination?: DestinationStream | undefined;
}): Logger {
  return pino(loggerOptions(options.level), options.destination ?? (options.pretty ? prettyOutput() : buffered()));
}

/** The logger of the service; until `setLogger` is called one that writes JSON lines of level info and above. */
export function logger(): Logger {
  current ??= createLogger({ level: 'info', pretty: false });
  return current;
}

/** Makes `replacement` the logger of the service. */
export function setLogger(replacement: Logger): void {
  current = replacement;
}

/** Writes out what is buffered, at once; needed before the process exits on a signal. */
export function flushLogger(): void {
  const stream = (current as unknown as Record<symbol, { flushSync?: () => void }> | undefined)?.[symbols.streamSym];
  stream?.flushSync?.();
}

function loggerOptions(level: string): LoggerOptions {
  return {
    level,
    base: null,
    formatters: { level: (label) => ({ level: label }), log: redact },
    serializers: { err: describeError },
    mixin: requestFields,
  };
}

/** A line that names its request already, such as the completion line, needs no second look. */
function requestFields(line: object): { requestId?: string } {
  if ('requestId' in line) return {};
  const requestId = getRequestContext()?.requestId;
  return requestId === undefined ? {} : { requestId };
}

/** Only these fields: errors of clients and drivers carry requests, headers and connection strings. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = (error as { code?: unknown }).code;
  return { type: error.name, message: error.message, ...(code !== undefined && { code }), stack: chainedStack(error) };
}

function chainedStack(error: Error, depth = 0): string | undefined {
  const { cause, stack } = error;
  if (!(cause instanceof Error) || depth === 5 || stack?.includes('\nCaused by: ')) return stack;
  return `${stack}\nCaused by: ${chainedStack(cause, depth + 1)}`;
}

function buffered(): DestinationStream {
  if (standardOutput === undefined) {
    const destination = pino.destination({ dest: 1, sync: false, minLength: 4096 });
    setInterval(() => destination.flush(), flushIntervalMs).unref();
    standardOutput = destination;
  }
  return standardOutput;
}

/** pino-pretty is a development dependency: where it is missing the lines stay JSON. */
function prettyOutput(): DestinationStream {
  const require = createRequire(import.meta.url);
  try {
    return require('pino-pretty')({ colorize: process.stdout.isTTY, sync: true, ignore: 'pid,hostname' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    return buffered();
  }
}
