import {
  type Bindings,
  type ChildLoggerOptions,
  type DestinationStream,
  type Logger,
  type LoggerOptions,
  pino,
  symbols,
} from 'pino';
import { getRequestContext } from '../context/request-context.ts';
import type { BufferedOutput } from './buffered-output.ts';
import { describeError } from './describe-error.ts';
import { bufferedOutput, prettyOutput } from './log-output.ts';
import { describeRequest, describeResponse, redact } from './redact.ts';
import { safeLine } from './safe-line.ts';

export type { Logger } from 'pino';

/** Characters that JSON leaves as they are and that terminals and line readers act upon. */
const actingCharacters = /[\u007f-\u009f\u2028\u2029]/g;

interface RequestFields {
  requestId?: string;
  traceId?: string;
}

const noFields: RequestFields = {};

let current: Logger | undefined;
let children: WeakRef<Logger>[] = [];

/**
 * A logger that writes JSON lines to standard output, or readable ones with `pretty` where pino-pretty is installed.
 * Every line of a request carries its `requestId` and `traceId`; values under a secret's name are masked, and a line
 * stays one line whatever a client sent. JSON lines are buffered for at most half a second: `flushLogger` writes them
 * out, and so does the end of the process.
 *
 * @param options.level least severe level that is written; `silent` writes nothing
 * @param options.destination where lines go instead
 */
export function createLogger(options: {
  level: string;
  pretty: boolean;
  destination?: DestinationStream | undefined;
}): Logger {
  const made = pino(
    loggerOptions(options.level),
    options.destination ?? (options.pretty ? prettyOutput() : bufferedOutput()),
  );
  const child = made.child;
  // pino formats the fields of lines, not those that a child has for all of its own.
  made.child = function maskBindings(this: Logger, bindings: Bindings, more?: ChildLoggerOptions) {
    return Reflect.apply(child, this, [redact(bindings), more]);
  } as unknown as typeof child;
  return made;
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

/** The least severe level that is written now. */
export function logLevel(): string {
  return logger().level;
}

/** Changes the level of the service's logger and of those that were made of it, at once. */
export function setLogLevel(level: string): void {
  logger().level = level;
  for (const child of children) {
    const made = child.deref();
    if (made) made.level = level;
  }
}

/** Writes out what is buffered, at once; needed before the process exits on a signal. */
export function flushLogger(): void {
  destinationOf(current)?.flushAtOnce?.();
}

/**
 * Writes out everything, as slowly as the reader of a pipe takes it, and resolves when it is written. The rest is given
 * up once the reader has taken nothing for `stallMs`, because an exit would wait for it for ever.
 */
export async function drainLogger(stallMs: number): Promise<void> {
  const stream = destinationOf(current);
  if (stream?.flush === undefined) return stream?.flushAtOnce?.();
  const { promise: drained, resolve } = Promise.withResolvers<boolean>();
  const giveUp = setTimeout(resolve, stallMs, false);
  stream.onProgress?.(() => giveUp.refresh());
  stream.flush(() => resolve(true));
  if (!(await drained)) stream.destroy?.();
  clearTimeout(giveUp);
}

function destinationOf(made: Logger | undefined): Partial<BufferedOutput> | undefined {
  return (made as unknown as Record<symbol, Partial<BufferedOutput>> | undefined)?.[symbols.streamSym];
}

function loggerOptions(level: string): LoggerOptions {
  return {
    level,
    base: null,
    formatters: { level: (label) => ({ level: label }), log: redact },
    serializers: { err: describeError, req: describeRequest, res: describeResponse },
    mixin: requestFields,
    mixinMergeStrategy: addFields,
    hooks: { streamWrite: (line) => escapeActing(safeLine(line)) },
    onChild: rememberChild,
  };
}

/** A line that names its request already, such as the completion line, needs no second look. */
function requestFields(line: object): RequestFields {
  if ('requestId' in line && 'traceId' in line && line.requestId !== undefined) return noFields;
  const context = getRequestContext();
  if (context === undefined) return noFields;
  const { requestId, traceId } = context;
  return traceId === undefined ? { requestId } : { requestId, traceId };
}

function addFields(line: object, fields: object): object {
  return fields === noFields ? line : { ...fields, ...line };
}

function escapeActing(line: string): string {
  if (line.search(actingCharacters) === -1) return line;
  return line.replace(actingCharacters, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Children take their level when they are made; held weakly, because modules may make one for each of many things. */
function rememberChild(child: Logger): void {
  if (children.length >= 1_000) children = children.filter((known) => known.deref() !== undefined);
  if (children.length < 1_000) children.push(new WeakRef(child));
}
