import { constants } from 'node:os';
import process from 'node:process';
import { inspect } from 'node:util';
import type { Logger } from '../telemetry/logger.ts';
import type { DrainReport } from './drain.ts';
import { endSignals, exitAfter, exitAtOnce, exitProcess, processLogger } from './process-guards.ts';
import { StartStoppedError } from './start-up-report.ts';

/** How a service ended: the requests answered and cut since the end began, and what could not be closed. */
export interface ShutdownReport extends DrainReport {
  failure?: Error;
}

/** A service, as far as a process needs to know it. */
interface Runnable {
  readonly logger: Logger;
  start(): Promise<unknown>;
  close(): Promise<ShutdownReport>;
}

interface Signalled {
  signal: NodeJS.Signals;
  /** When it came, by `performance.now()`. */
  at: number;
}

/**
 * Starts a service, closes it on SIGTERM, SIGINT, SIGQUIT or SIGHUP and exits: with code 0, or 1 when the start failed, a request
 * was cut or something could not be closed. A signal during the start stops it, which ends with code 0 too. A second
 * signal exits at once, with 128 plus its number.
 *
 * @param make gives the service, not yet started
 */
export async function runUntilSignal(make: () => Promise<Runnable>): Promise<void> {
  const signalled = firstSignal();
  let service: Runnable;
  try {
    service = await make();
  } catch (error) {
    return exitAfter(error, 'start failed');
  }
  const ended = signalled.then(async (signal) => ({ ...signal, report: await service.close() }));
  const outcome = await Promise.race([startOutcome(service), ended]);
  if (outcome instanceof StartStoppedError) {
    service.logger.info('shut down during the start');
    return exitProcess(0);
  }
  if (outcome instanceof Error) return exitAfter(outcome, 'start failed', service.logger);
  const { signal, at, report } = await ended;
  logEnd(service.logger, report, signal, Math.round(performance.now() - at));
  await exitProcess(report.cut > 0 || report.failure ? 1 : 0);
}

function firstSignal(): Promise<Signalled> {
  const { promise: signalled, resolve } = Promise.withResolvers<Signalled>();
  let came = false;
  for (const signal of endSignals) {
    process.on(signal, () => {
      if (came) exitAtOnce(128 + constants.signals[signal]);
      came = true;
      processLogger().info({ signal }, 'shutting down');
      resolve({ signal, at: performance.now() });
    });
  }
  return signalled;
}

/** What a start failed with; undefined once it is done. */
async function startOutcome(service: Runnable): Promise<Error | undefined> {
  try {
    await service.start();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(`The start failed: ${inspect(error)}`);
  }
}

function logEnd(log: Logger, { finished, cut, failure }: ShutdownReport, signal: NodeJS.Signals, ms: number): void {
  const line = { signal, finished, cut, ms, ...(failure && { err: failure }) };
  const message = `shut down in ${ms} ms: ${finished} requests finished, ${cut} cut`;
  if (failure) log.error(line, `${message}; not everything could be closed`);
  else log[cut > 0 ? 'warn' : 'info'](line, message);
}
