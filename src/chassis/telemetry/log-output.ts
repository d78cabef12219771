import { createRequire } from 'node:module';
import process from 'node:process';
import type { DestinationStream } from 'pino';
import { BufferedOutput } from './buffered-output.ts';

/** What is written by and by. */
type Drainable = Pick<BufferedOutput, 'onProgress' | 'flush' | 'destroy'>;

const standardOutput = 1;
const flushIntervalMs = 500;
/** As JSON writes them, or the backslash that a text has in front of the same letters; a tab and a line break of a stack may stay. */
const escapedControls = /\\(?:\\|r|b|f|u00[0189][\da-f]|u007f|u202[89])/g;

/** Standard output is the process's: all its services write by this one, so that their lines do not mix. */
let output: BufferedOutput | undefined;

/** Standard output, written in pieces of 16 KB or after half a second. */
export function bufferedOutput(): BufferedOutput {
  if (output === undefined) {
    const opened = new BufferedOutput(standardOutput);
    setInterval(() => opened.flush(), flushIntervalMs).unref();
    output = opened;
  }
  return output;
}

/** Writes out what is buffered for standard output, at once; needed before the process exits on a signal. */
export function flushOutput(): void {
  output?.flushAtOnce();
}

/**
 * Writes out everything, as slowly as the reader of a pipe takes it, and resolves when it is written. The rest is given
 * up once the reader has taken nothing for `stallMs`, because an exit would wait for it for ever.
 *
 * @param stream where to; standard output by default
 */
export async function drainOutput(stallMs: number, stream: Drainable | undefined = output): Promise<void> {
  if (stream === undefined) return;
  const { promise: drained, resolve } = Promise.withResolvers<boolean>();
  const giveUp = setTimeout(resolve, stallMs, false);
  stream.onProgress(() => giveUp.refresh());
  stream.flush(() => resolve(true));
  if (!(await drained)) stream.destroy();
  clearTimeout(giveUp);
}

/** Readable lines. pino-pretty is a development dependency: where it is missing the lines stay JSON. */
export function prettyOutput(): DestinationStream {
  const pretty = prettyStream();
  return pretty ? { write: (line) => pretty.write(showControls(line)) } : bufferedOutput();
}

/** pino-pretty undoes the escapes of JSON, so control characters get a second one. */
export function showControls(line: string): string {
  return line.replace(escapedControls, (escaped) => (escaped === '\\\\' ? escaped : `\\${escaped}`));
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
