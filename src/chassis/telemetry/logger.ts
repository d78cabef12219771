import {
  type Bindings,
  type ChildLoggerOptions,
  type DestinationStream,
  type Logger,
  type LoggerOptions,
  pino,
} from 'pino';
import { getRequestContext } from '../context/request-context.ts';
import { describeError } from './describe-error.ts';
import { type LogFormat, lineFormat } from './log-format.ts';
import { bufferedOutput, prettyOutput } from './log-output.ts';
import {
  boundText,
  describeRequest,
  describeResponse,
  isSuspicious,
  LogMasks,
  maskText,
  maximumText,
  redact,
} from './redact.ts';

export type { Logger } from 'pino';

/** Characters that JSON leaves as they are and that terminals and line readers act upon. */
const actingCharacters = /[\u007f-\u009f\u2028\u2029]/g;

interface RequestIds {
  requestId?: string;
  traceId?: string;
}

const noFields: RequestIds = {};

/** What belongs to a logger of `createLogger`. */
interface LoggerParts {
  masks: LogMasks;
  /** Held weakly, because modules may make one for each of many things. */
  children: WeakRef<Logger>[];
  /** How many there may be until those that are gone are left out. */
  nextLook: number;
  /** Get every line that is written, beside its destination. */
  taps: readonly ((line: string) => void)[];
}

const partsOf = new WeakMap<object, LoggerParts>();

/**
 * A logger that writes JSON lines to standard output, or readable ones with `pretty` where pino-pretty is installed.
 * Every line of a request carries its `requestId` and `traceId`; values under a secret's name are masked, and a line
 * stays one line whatever a client sent. JSON lines are buffered for at most half a second; `flushOutput` writes
 * them out, as the end of the process does.
 *
 * @param options.level least severe level that is written; `silent` writes nothing
 * @param options.pretty whether lines are readable ones. Default: false
 * @param options.destination where lines go instead, such as one of `pino.destination()` or `pino.transport()`
 */
export function createLogger(options: {
  level: string;
  pretty?: boolean;
  /** How lines are written where they are not readable ones. Default: as pino does. */
  format?: LogFormat;
  destination?: DestinationStream | undefined;
}): Logger {
  const parts: LoggerParts = { masks: new LogMasks(), children: [], nextLook: 1_000, taps: [] };
  const made = pino(
    loggerOptions(options.level, parts, lineFormat(options.format ?? 'json')),
    options.destination ?? (options.pretty ? prettyOutput() : bufferedOutput()),
  );
  const child = made.child;
  // pino formats the fields of lines, not those that a child has for all of its own.
  made.child = function maskBindings(this: Logger, bindings: Bindings, more?: ChildLoggerOptions) {
    return Reflect.apply(child, this, [redact(bindings, parts.masks), more]);
  } as unknown as typeof child;
  const { setBindings } = made;
  made.setBindings = function maskMoreBindings(this: Logger, bindings: Bindings) {
    Reflect.apply(setBindings, this, [redact(bindings, parts.masks)]);
  };
  partsOf.set(made, parts);
  return made;
}

/**
 * What a logger masks beside what all do.
 *
 * @throws TypeError where `createLogger` did not make it: such a logger masks nothing and knows no request
 */
export function masksOf(logger: Logger): LogMasks {
  const parts = partsOf.get(logger);
  if (parts) return parts.masks;
  throw new TypeError(
    'Expected a logger of createLogger(), found another, which would mask no secrets and name no request; ' +
      'pass createLogger({ level, destination }), with the destination of yours.',
  );
}

/**
 * Has `tap` get every line of a logger and of those made of it, masked and bounded, as JSON.
 *
 * @returns what ends it
 */
export function tapLog(logger: Logger, tap: (line: string) => void): () => void {
  const parts = partsOf.get(logger);
  if (parts) parts.taps = [...parts.taps, tap];
  return () => {
    if (parts) parts.taps = parts.taps.filter((other) => other !== tap);
  };
}

/** Changes the level of a logger and of those that were made of it, at once. */
export function setLogLevel(logger: Logger, level: string): void {
  logger.level = level;
  for (const child of partsOf.get(logger)?.children ?? []) {
    const made = child.deref();
    if (made) made.level = level;
  }
}

function loggerOptions(level: string, parts: LoggerParts, format: ReturnType<typeof lineFormat>): LoggerOptions {
  const { masks } = parts;
  return {
    level,
    base: null,
    formatters: { level: (label) => ({ level: label }), log: (line) => redact(line, masks) },
    serializers: { err: describeError, req: (req) => describeRequest(req, masks), res: describeResponse },
    mixin: requestIds,
    mixinMergeStrategy: addFields,
    hooks: {
      streamWrite(line) {
        const safe = escapeActing(safeLine(line, masks));
        for (const tap of parts.taps) tap(safe);
        return format === undefined ? safe : escapeActing(format(safe));
      },
    },
    onChild: (child) => rememberChild(parts, child),
  };
}

/** A line that names its request already, such as the completion line, needs no second look. */
function requestIds(line: object): RequestIds {
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

/** Children take their level when they are made. */
function rememberChild(parts: LoggerParts, child: Logger): void {
  partsOf.set(child, parts);
  // Each look at all of them is paid for by as many new ones.
  if (parts.children.length >= parts.nextLook) {
    parts.children = parts.children.filter((known) => known.deref() !== undefined);
    parts.nextLook = Math.max(1_000, parts.children.length * 2);
  }
  parts.children.push(new WeakRef(child));
}

/** What stands before the message of a line, which is its last field. */
const messageKey = ',"msg":';
/** Of level, time and ids a line keeps these, however long it is. */
const lineHead = /^\{"level":"\w+","time":\d+(?:,"requestId":"[^"]*")?(?:,"traceId":"[^"]*")?/;
const maximumLine = 65_536;
const maximumFields = 16_384;

/**
 * A line of the log with its message masked and cut, which often is that of a library that names the host it could not reach,
 * and how. Of a line above 64 KB the beginning of its fields is left, as text. Most lines cost a look at their message.
 *
 * @param masks what is masked beside what always is
 */
function safeLine(line: string, masks: LogMasks): string {
  const start = line.lastIndexOf(messageKey);
  if (start === -1) return line.length > maximumLine ? cutLine(line, '""') : line;
  const end = line.lastIndexOf('}');
  const written = line.slice(start + messageKey.length, end);
  const message = written.length > maximumText || isSuspicious(written) ? safeMessage(written, masks) : written;
  if (line.length > maximumLine) return cutLine(line.slice(0, start), message);
  return message === written ? line : line.slice(0, start + messageKey.length) + message + line.slice(end);
}

function safeMessage(written: string, masks: LogMasks): string {
  return JSON.stringify(maskText(JSON.parse(written), masks));
}

/** A message without end makes a long line, whose fields may be short. */
function cutLine(fields: string, message: string): string {
  if (fields.length <= maximumLine) return `${fields}${messageKey}${message}}\n`;
  const head = lineHead.exec(fields)?.[0] ?? '{"level":"error"';
  return `${head},"cut":${JSON.stringify(boundText(fields.slice(head.length), maximumFields))}${messageKey}${message}}\n`;
}
