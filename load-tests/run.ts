/**
 * Puts a service under load and prints one table: `npm run load -- <scenario|all> [profile]`. Without BASE_URL it starts
 * the service as in production, with a database of its own, and ends both.
 */
import type { ChildProcess } from 'node:child_process';
import process from 'node:process';
import { type RunSummary, summaryTable } from './lib/run-summary.ts';
import { findK6, refuseUnfitRun, runK6, scenarios } from './run/k6.ts';
import { startService } from './run/service.ts';

const [wanted = '', profile = 'smoke'] = process.argv.slice(2);
const chosen = wanted === 'all' ? scenarios : scenarios.filter((scenario) => scenario === wanted);

let current: ChildProcess | undefined;
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // What was started has to be ended by this process: a signal only ends the run.
  process.on(signal, () => {
    interrupted = true;
    current?.kill('SIGINT');
  });
}

async function run(): Promise<boolean> {
  if (chosen.length === 0) {
    throw new Error(
      `Expected a scenario, one of all, ${scenarios.join(', ')}; got "${wanted}". A profile may follow it.`,
    );
  }
  const k6 = findK6();
  for (const scenario of chosen) await refuseUnfitRun(k6, scenario, profile);
  await using opened = new AsyncDisposableStack();
  const target = process.env.BASE_URL ?? (await startService(opened));
  const runs: RunSummary[] = [];
  for (const scenario of chosen) {
    if (interrupted) break;
    console.error(`${scenario}, ${profile}, against ${target}`);
    runs.push(await runK6(k6, { scenario, profile, target }, (child) => (current = child)));
  }
  console.log(summaryTable(runs));
  return runs.length === chosen.length && runs.every(({ crossed }) => crossed.length === 0);
}

const succeeded = await run().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  return false;
});
// Said outright: the package of the database's binaries would end the process with 0.
process.exit(succeeded ? 0 : 1);
