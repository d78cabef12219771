import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import type { Writable } from 'node:stream';
import { importFile } from '../config/layout.ts';
import { type Logger, tapLog } from './logger.ts';

/** What may wait for a transport that takes nothing, in bytes; lines beyond it are dropped, and counted once it does. */
const mostWaiting = 16_777_216;
const closeMs = 1_000;

type MakeTransport = (options: object) => Writable | Promise<Writable>;

/**
 * Has a transport of pino's ecosystem, such as pino-loki, get every line beside standard output. It runs in this process,
 * not in a worker: what it sends must not block.
 *
 * @param target a package of the service, or an absolute path, whose default export makes the stream
 * @returns what ends it, after it has written what it has, for at most a second
 * @throws Error where there is no such module or it makes no stream
 */
export async function startLogTransport(logger: Logger, target: string, options: object): Promise<() => Promise<void>> {
  const stream = await transportOf(target, options);
  let dropped = 0;
  stream.on('error', (error) => {
    stop();
    logger.error({ err: error, target }, 'log transport failed; lines go to standard output only');
  });
  const stop = tapLog(logger, (line) => {
    if (stream.writableLength > mostWaiting) dropped += 1;
    else stream.write(line);
  });
  return async () => {
    stop();
    if (dropped > 0) logger.warn({ target, lines: dropped }, 'log transport was too slow; lines dropped');
    if (stream.destroyed) return;
    const finished = once(stream, 'finish', { signal: AbortSignal.timeout(closeMs) });
    stream.end();
    await finished.catch((error: unknown) => logger.warn({ err: error, target }, 'final log lines not transported'));
  };
}

async function transportOf(target: string, options: object): Promise<Writable> {
  const path = createRequire(join(process.cwd(), 'package.json')).resolve(target);
  const module = await importFile(path);
  const make: unknown = module.default?.default ?? module.default ?? module;
  if (typeof make !== 'function') {
    throw new Error(`Expected LOG_TRANSPORT to name a module whose default export makes a stream; ${target} does not.`);
  }
  return (make as MakeTransport)(options);
}
