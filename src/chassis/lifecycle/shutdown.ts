import { constants } from 'node:os';
import process from 'node:process';
import { environment } from '../config/environment.ts';
import { logger } from '../telemetry/logger.ts';
import type { Closers } from './closers.ts';
import type { Drain, DrainReport } from './drain.ts';
import { enterPhase } from './health.ts';
import { endSignals, exitAfter, exitAtOnce, exitProcess } from './process-guards.ts';

/** How a service ended: the requests answered and cut since the end began, and what could not be closed. */
export interface ShutdownReport extends DrainReport {
  failure?: Error;
}

interface Closable {
  close(): Promise<ShutdownReport>;
}

/** Makes the way to close a service: readiness off, then everything that was opened, last first. Once, and never rejecting. */
export function closeService(closers: Closers, drain: Drain): () => Promise<ShutdownReport> {
  let ended: Promise<ShutdownReport> | undefined;
  async function close(): Promise<ShutdownReport> {
    enterPhase('shutting down');
    try {
      await closers.closeAll();
    } catch (failure) {
      return { ...drain.report(), failure: failure as Error };
    }
    return drain.report();
  }
  return () => {
    ended ??= close();
    return ended;
  };
}

/**
 * Starts a service, closes it on SIGTERM, SIGINT or SIGHUP and exits: with code 0, or 1 when the start failed, a request was cut
 * or something could not be closed. A signal during the start aborts `stop`, whose reason the start is to raise after it
 * has closed what it opened; that ends with code 0 too. A second signal exits at once, with 128 plus its number.
 */
export async function runUntilSignal(start: (stop: AbortSignal) => Promise<Closable>): Promise<void> {
  const { stop, signalled } = listenForSignals();
  let service: Closable;
  try {
    service = await startInTime(start, stop);
  } catch (error) {
    if (!stop.aborted || error !== stop.reason) return exitAfter(error, 'start failed');
    logger().info('shut down during the start');
    return exitProcess(0);
  }
  const { signal, at } = await signalled;
  const ended = await service.close();
  const failed = ended.cut > 0 || ended.failure !== undefined;
  logEnd(ended, signal, Math.round(performance.now() - at));
  await exitProcess(failed ? 1 : 0);
}

interface Signalled {
  signal: NodeJS.Signals;
  /** When it came, by `performance.now()`. */
  at: number;
}

function listenForSignals(): { stop: AbortSignal; signalled: Promise<Signalled> } {
  const controller = new AbortController();
  const { promise: signalled, resolve } = Promise.withResolvers<Signalled>();
  for (const signal of endSignals) {
    process.on(signal, () => {
      if (controller.signal.aborted) exitAtOnce(128 + constants.signals[signal]);
      logger().info({ signal }, 'shutting down');
      resolve({ signal, at: performance.now() });
      controller.abort(new Error(`The start was stopped by ${signal}.`));
    });
  }
  return { stop: controller.signal, signalled };
}

/** A start that does not heed the signal is left behind at the deadline. */
async function startInTime(start: (stop: AbortSignal) => Promise<Closable>, stop: AbortSignal): Promise<Closable> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const limit = () => {
    const { SHUTDOWN_DEADLINE_MS } = environment();
    const error = new Error(`The start did not stop within ${SHUTDOWN_DEADLINE_MS} ms of the signal.`);
    timer = setTimeout(() => reject(error), SHUTDOWN_DEADLINE_MS);
  };
  stop.addEventListener('abort', limit);
  try {
    return await Promise.race([start(stop), late]);
  } finally {
    stop.removeEventListener('abort', limit);
    clearTimeout(timer);
  }
}

function logEnd({ finished, cut, failure }: ShutdownReport, signal: NodeJS.Signals, ms: number): void {
  const line = { signal, finished, cut, ms, ...(failure && { err: failure }) };
  const message = `shut down in ${ms} ms: ${finished} requests finished, ${cut} cut`;
  if (failure) logger().error(line, `${message}; not everything could be closed`);
  else logger()[cut > 0 ? 'warn' : 'info'](line, message);
}
