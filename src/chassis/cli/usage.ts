import { type Command, commands } from './command-list.ts';

/** What `slipway --help` prints. */
export function usage(version: string): string {
  const width = Math.max(...commands.map((command) => callOf(command).length));
  const lines = commands.map((command) => `  ${callOf(command).padEnd(width)}  ${command.summary}`);
  return `slipway ${version}: makes services of the Slipway chassis, and works on them.

Usage: slipway <command> [options]

${lines.join('\n')}

"slipway <command> --help" tells more of a command. Those that read settings take them from the environment and from the
file .env of the working directory, which is the directory of a service for all commands but "new".
Exit codes: 0 done, 1 failed, 2 called in a way that it does not know.
`;
}

/** What `slipway <command> --help` prints. */
export function usageOf(command: Command): string {
  return `slipway ${callOf(command)}\n\n${command.summary[0]?.toUpperCase()}${command.summary.slice(1)}.\n\n${command.help}\n`;
}

function callOf({ name, parameters }: Command): string {
  return [name, parameters].filter(Boolean).join(' ');
}
