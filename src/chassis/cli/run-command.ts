import { constants } from 'node:os';
import process from 'node:process';
import type { Variables } from '../config/environment.ts';
import { endSignals, exitAfter, exitAtOnce, exitProcess } from '../lifecycle/process-guards.ts';

type Command = (args: string[], env: Variables) => Promise<void>;

/** What a built service does instead of serving; loaded only when asked for. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  migrate: async () => {
    const { migrate } = await import('./commands/migrate.ts');
    return migrate;
  },
  seed: async () => {
    const { seed } = await import('./commands/seed.ts');
    return seed;
  },
};

/**
 * Runs the command of the process instead of the service, and exits: `migrate` brings the database up to date, `seed`
 * fills it. Both need the settings of the chassis only. Exits with code 1 and a message when it failed or is unknown, and
 * with 128 plus its number on a signal; the database then undoes what was not done whole.
 */
export async function runCommand(name: string, args: string[], env: Variables): Promise<never> {
  for (const signal of endSignals) {
    // The first process of a container has no default for signals: without a listener they would be ignored.
    process.on(signal, () => exitAtOnce(128 + constants.signals[signal]));
  }
  try {
    const command = await commands[name]?.();
    if (!command) {
      const names = Object.keys(commands).join(', ');
      throw new Error(`Expected no argument, for the service, or one of ${names}; got "${name}".`);
    }
    await command(args, env);
  } catch (error) {
    return exitAfter(error, `${name} failed`);
  }
  return exitProcess(0);
}
