import { writeSync } from 'node:fs';
import process from 'node:process';
import { inspect } from 'node:util';
import { ConfigurationError } from '../config/environment.ts';
import { sourceExtension } from '../config/layout.ts';
import { findService, openServices } from '../context/current-service.ts';
import { type Scope, scopes } from '../context/request-context.ts';
import { drainOutput, flushOutput } from '../telemetry/log-output.ts';
import { createLogger, type Logger } from '../telemetry/logger.ts';

/** The signals that ask the process to end: of Kubernetes, of a keyboard (two), and of a terminal that was closed. */
export const endSignals = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP'] as const;

/** Signals by which a built service is neither ended nor debugged: without a listener, all but the first end it undrained. */
const ignoredSignals = ['SIGUSR1', 'SIGUSR2', 'SIGALRM', 'SIGVTALRM'] as const;

const reportTimeoutMs = 2000;
const logStallMs = 2000;
const standardError = 2;

/** The end of the process belongs to the process, whatever services it has. */
const ending = { crashing: false };
const logged = new WeakSet<object>();
const rejectedIn = new WeakMap<object, Scope>();

/**
 * Ends the process on uncaught faults (spec.md: Handling, rule 5): an uncaught exception is logged and the
 * process exits with code 1; an unhandled rejection is logged and thrown on, which makes it an uncaught exception. What
 * fails while that happens is logged and changes nothing. However the process ends, the log is written out. Once built, the
 * service does not open Node's debugger on SIGUSR1, by which anyone who can send a signal could run code in it, and
 * ignores signals of timers and SIGUSR2, which in development ends it as watchers of files expect.
 */
export function guardProcess(): void {
  process.on('exit', flushOutput);
  if (sourceExtension === '.js') {
    for (const signal of ignoredSignals) process.on(signal, () => processLogger().warn(`${signal} ignored`));
  }
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', (reason) => {
    writeLine('error', reason, 'unhandled promise rejection');
    const error = reason instanceof Error ? reason : new Error(`Unhandled rejection: ${inspect(reason)}`);
    const scope = scopes.getStore();
    if (scope) rejectedIn.set(error, scope);
    throw error;
  });
}

/** Notes that an error has its line in the log, so that the end of the process adds none. */
export function noteLogged(error: unknown): void {
  if (typeof error === 'object' && error !== null) logged.add(error);
}

/**
 * Writes a last line, then exits with code 1. What is wrong with the configuration is text, one problem a line, for a
 * person at a terminal and where the log is for people.
 */
export async function exitAfter(error: unknown, message: string, logger?: Logger): Promise<never> {
  const isTerminal = process.stderr.isTTY || process.stdout.isTTY;
  if (error instanceof ConfigurationError && (isTerminal || error.forPeople))
    process.stderr.write(`${error.message}\n`);
  else if (!logged.has(error as object)) writeLine('fatal', error, message, logger);
  return exitProcess(1);
}

/** Exits once every log line is written, or no line has been read for 2 s; with code 1 when the process is crashing. */
export async function exitProcess(code: number): Promise<never> {
  try {
    await drainOutput(logStallMs);
  } catch (error) {
    writeToStandardError(error, 'writing the last log lines failed');
  }
  process.exit(ending.crashing ? 1 : code);
}

/** Exits now, with what of the log can be written at once. */
export function exitAtOnce(code: number): never {
  try {
    flushOutput();
  } catch (error) {
    writeToStandardError(error, 'writing the last log lines failed');
  }
  process.exit(code);
}

/** Also called for what the ways out of here throw, so each of its steps is guarded, and the first call decides. */
function crash(error: unknown): void {
  // What is thrown on has left the request that it began in.
  const scope = rejectedIn.get(error as object);
  if (scope) scopes.run(scope, () => end(error));
  else end(error);
}

function end(error: unknown): void {
  writeLine('fatal', error, 'uncaught exception');
  if (ending.crashing) return;
  ending.crashing = true;
  void tellMonitors(error).then(() => exitProcess(1));
}

/** Never rejects. */
async function tellMonitors(error: unknown): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, reportTimeoutMs);
  try {
    await Promise.race([Promise.all(openServices().map((service) => service.reportCrash(error))), late]);
  } catch (failure) {
    writeLine('error', failure, 'reporting a crash failed');
  }
}

function writeLine(level: 'error' | 'fatal', error: unknown, message: string, logger = processLogger()): void {
  try {
    logger[level]({ err: error }, message);
  } catch (failure) {
    writeToStandardError(error, message);
    writeToStandardError(failure, 'logger failed');
  }
}

/** That of the service in which something happened, else of the first; before any is started JSON on standard output. */
export function processLogger(): Logger {
  const service = findService() ?? openServices()[0];
  return service?.logger ?? createLogger({ level: 'info', pretty: false });
}

/** For what the logger cannot write. */
function writeToStandardError(error: unknown, message: string): void {
  try {
    writeSync(standardError, `${message}: ${inspect(error)}\n`);
  } catch {
    // No output is left; the exit code says the rest.
  }
}
