import { createRequire } from 'node:module';
import process from 'node:process';
import { type DestinationStream, pino } from 'pino';

/**
 * A destination that holds lines back for a while. It has no `flushSync`, which pino would call after a fatal line: in the
 * middle of a write that puts lines out of order, or loses some.
 */
export interface BufferedDestination extends DestinationStream {
  /** Writes out what is there, and calls `done` once no write is under way. */
  flush(done?: () => void): void;
  /** Writes what no write has begun with, and waits for it. */
  flushAtOnce(): void;
  /** Forgets what is there. */
  destroy(): void;
  /** Whenever some of it is written. */
  on(event: 'write', listener: () => void): unknown;
}

const flushIntervalMs = 500;
/** As JSON writes them; a tab and a line break of a stack may stay. */
const escapedControls = /\\(r|b|f|u00[01][\da-f])/g;

let standardOutput: BufferedDestination | undefined;

/** Standard output, written in pieces of 8 KB or after half a second. */
export function bufferedOutput(): BufferedDestination {
  if (standardOutput === undefined) {
    const destination = pino.destination({ dest: 1, sync: false, minLength: 8192 });
    setInterval(() => destination.flush(), flushIntervalMs).unref();
    standardOutput = {
      write: (line) => destination.write(line),
      flush: (done) => destination.flush(done),
      flushAtOnce: () => destination.flushSync(),
      destroy: () => destination.destroy(),
      on: (event, listener) => destination.on(event, listener),
    };
  }
  return standardOutput;
}

/** Readable lines. pino-pretty is a development dependency: where it is missing the lines stay JSON. */
export function prettyOutput(): DestinationStream {
  const pretty = prettyStream();
  return pretty ? { write: (line) => pretty.write(showControls(line)) } : bufferedOutput();
}

/** pino-pretty undoes the escapes of JSON, so control characters get a second one. */
export function showControls(line: string): string {
  return line.replace(escapedControls, '\\\\$1');
}

function prettyStream(): DestinationStream | undefined {
  const require = createRequire(import.meta.url);
  try {
    return require('pino-pretty')({
      colorize: process.stdout.isTTY,
      sync: true,
      ignore: 'pid,hostname',
      messageFormat: (line: Record<string, unknown>, key: string) => String(line[key] ?? '').replaceAll('\n', '\\n'),
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    return undefined;
  }
}
