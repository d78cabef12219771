import type { ChildProcess } from 'node:child_process';
import process from 'node:process';
import { readArguments } from './arguments.ts';
import { compareReports } from './compare-reports.ts';
import { helpText } from './help.ts';
import { manifest } from './manifest.ts';
import { reportOfLogs } from './report-of-logs.ts';
import { newFolder, runScenarios } from './run-scenarios.ts';

/**
 * Puts a service under load as the arguments say, and ends the process: with 0 where nothing failed, else with 1.
 *
 * @param args what stands behind `npm run load --`
 */
export async function loadCommand(args: readonly string[]): Promise<never> {
  let current: ChildProcess | undefined;
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // What was started has to be ended by this process: a signal only ends the run.
    process.on(signal, () => {
      stop.abort();
      current?.kill('SIGINT');
    });
  }
  const succeeded = await run(args, stop.signal, (child) => (current = child)).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    return false;
  });
  // A pipe takes 64 KiB at once; what is behind that would be lost with the process.
  await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  // Said outright: the package of the database's binaries would end the process with 0.
  process.exit(succeeded ? 0 : 1);
}

async function run(
  args: readonly string[],
  stopped: AbortSignal,
  running: (child: ChildProcess) => void,
): Promise<boolean> {
  const asked = readArguments([...args]);
  if (asked.command === 'compare') return compareReports(asked);
  if (asked.command === 'run') return runScenarios(asked.run, stopped, running);
  if (asked.command === 'report') return reportOfLogs(process.stdin, asked.out ?? newFolder(new Date()));
  console.log(asked.command === 'manifest' ? manifest(asked.manifest) : helpText());
  return true;
}
