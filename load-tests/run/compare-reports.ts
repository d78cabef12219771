import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { baseFile } from './arguments.ts';
import { readReport } from './base.ts';
import { compareRuns } from './compare-runs.ts';
import { differenceTable } from './difference-table.ts';
import { isSameMachine } from './machine.ts';

const runsFolder = join(import.meta.dirname, '../../.cache/load/runs');

/**
 * Prints two runs side by side.
 *
 * @returns whether the second is no regression of the first
 * @throws Error when there is no such run, or the two have no scenario in common
 */
export function compareReports(asked: { before: string; after: string; tolerance: number }): boolean {
  const [before, after] = [readReport(reportFile(asked.before)), readReport(reportFile(asked.after))];
  const differences = compareRuns(before.runs, after.runs, asked.tolerance);
  if (differences.length === 0) {
    throw new Error('Expected two runs with a scenario, list and profile in common; these have none.');
  }
  if (!isSameMachine(before.machine, after.machine)) {
    console.error(`These runs are of two machines: ${before.machine.processor}, ${after.machine.processor}.`);
  }
  console.log(differenceTable(differences));
  return differences.every(({ verdict }) => verdict !== 'regression');
}

/** The file that a name means: a file, a folder with one, `last`, `previous` or `base`. */
function reportFile(name: string): string {
  const file =
    name === 'base' ? baseFile : name === 'last' ? runFolder(-1) : name === 'previous' ? runFolder(-2) : name;
  const places = [file, join(file, 'report.json'), join(runsFolder, file, 'report.json')];
  const found = places.find((place) => existsSync(place) && statSync(place).isFile());
  if (found) return found;
  throw new Error(`Expected a run: a folder, its report.json, last, previous or base; there is no ${name}.`);
}

/** Folders are named after the time, so the last one sorts last. */
function runFolder(place: number): string {
  const folders = existsSync(runsFolder) ? readdirSync(runsFolder).toSorted() : [];
  const folder = folders.at(place);
  if (folder !== undefined) return join(runsFolder, folder);
  throw new Error(`There are ${folders.length} runs in ${runsFolder}; \`npm run load -- all smoke\` makes one.`);
}
