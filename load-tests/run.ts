/** Puts a service under load: `npm run load -- --help` says how. */
import type { ChildProcess } from 'node:child_process';
import process from 'node:process';
import { readArguments } from './run/arguments.ts';
import { compareReports } from './run/compare-reports.ts';
import { helpText } from './run/help.ts';
import { manifest } from './run/manifest.ts';
import { reportOfLogs } from './run/report-of-logs.ts';
import { newFolder, runScenarios } from './run/run-scenarios.ts';

let current: ChildProcess | undefined;
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // What was started has to be ended by this process: a signal only ends the run.
  process.on(signal, () => {
    stop.abort();
    current?.kill('SIGINT');
  });
}

async function run(): Promise<boolean> {
  const asked = readArguments(process.argv.slice(2));
  if (asked.command === 'compare') return compareReports(asked);
  if (asked.command === 'run') return runScenarios(asked.run, stop.signal, (child) => (current = child));
  if (asked.command === 'report') return reportOfLogs(process.stdin, asked.out ?? newFolder(new Date()));
  console.log(asked.command === 'manifest' ? manifest(asked.manifest) : helpText());
  return true;
}

const succeeded = await run().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  return false;
});
// A pipe takes 64 KiB at once; what is behind that would be lost with the process.
await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
// Said outright: the package of the database's binaries would end the process with 0.
process.exit(succeeded ? 0 : 1);
