import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { databaseProgram } from '../config/layout.ts';
import { endSignals, exitAfter, exitAtOnce, exitProcess } from './process-guards.ts';

interface Command {
  main(args: string[]): Promise<void>;
}

/** Each is the main function of the program of this name in prisma/. */
const commands = ['migrate', 'seed'] as const;

/**
 * Runs the command of the process instead of the service, and exits: `migrate` brings the database up to date, `seed`
 * fills it. Both need the settings of the chassis only. Exits with code 1 and a message when it failed or is unknown, and
 * with 128 plus its number on a signal; the database then undoes what was not done whole.
 */
export async function runCommand(name: string, args: string[]): Promise<never> {
  for (const signal of endSignals) {
    // The first process of a container has no default for signals: without a listener they would be ignored.
    process.on(signal, () => exitAtOnce(128 + constants.signals[signal]));
  }
  try {
    const command = await loadCommand(name);
    await command.main(args);
  } catch (error) {
    return exitAfter(error, `${name} failed`);
  }
  return exitProcess(0);
}

async function loadCommand(name: string): Promise<Command> {
  if (!commands.some((command) => command === name)) {
    throw new Error(`Expected no argument, for the service, or one of ${commands.join(', ')}; got "${name}".`);
  }
  const file = databaseProgram(name);
  if (!existsSync(file)) throw new Error(`Expected ${file}, found nothing; write it, or build the service again.`);
  return import(pathToFileURL(file).href);
}
