import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { RunSummary } from '../lib/run-summary.ts';
import { baseFile } from './arguments.ts';
import { compareRuns, type Difference } from './compare-runs.ts';
import { differenceTable } from './difference-table.ts';
import { originLines } from './origin-of-run.ts';
import { linesByReason, nameOf, pairOf } from './pair-runs.ts';
import { serviceDirectory } from './places.ts';
import { type LoadReport, readReport } from './report.ts';

const runsFolder = join(serviceDirectory, '.cache/load/runs');

/** Two reports side by side. */
export interface Comparison {
  readonly compared: readonly (RunSummary & { readonly differences: readonly Difference[] })[];
  /** What stands in one only, or cannot be compared, and why. */
  readonly notes: readonly string[];
  /** Whether the second has all that the first has, like it and no worse. */
  readonly passed: boolean;
}

/**
 * Prints two runs side by side.
 *
 * @returns whether the second has all that the first has, and nothing is worse or cannot be compared
 * @throws Error when there is no such run, or the two have no scenario in common
 */
export function compareReports(asked: { before: string; after: string; tolerance: number }): boolean {
  const [before, after] = [readReport(reportFile(asked.before)), readReport(reportFile(asked.after))];
  // A base is of more than one run.
  const isWanted = (run: RunSummary) =>
    asked.before !== 'base' || after.runs.some((one) => nameOf(one) === nameOf(run));
  const runs = before.runs.filter(isWanted);
  const { compared, notes, passed } = comparisonOf({ ...before, runs }, after, asked.tolerance);
  if (compared.length === 0) {
    throw new Error(`Expected two runs with a scenario, list and profile in common.\n${notes.join('\n')}`);
  }
  for (const line of originLines(runs)) console.error(`before: ${line}`);
  for (const line of originLines(after.runs)) console.error(`after:  ${line}`);
  console.log(differenceTable(compared));
  for (const note of notes) console.error(note);
  return passed;
}

/** Puts each run of a report beside the one of another that it can be compared with, or that comes closest. */
export function comparisonOf(before: LoadReport, after: LoadReport, tolerance: number): Comparison {
  const pairs = after.runs.map((run) => pairOf(before.runs, run));
  const gone = before.runs.filter((former) => after.runs.every((run) => nameOf(run) !== nameOf(former)));
  const compared = pairs.flatMap(({ run, former, unlike }) => {
    if (!former) return [];
    const differences = compareRuns(former, run, tolerance);
    return [{ ...run, differences: unlike.length === 0 ? differences : differences.map(unlikely) }];
  });
  const notes = linesByReason([
    ...pairs.flatMap(({ run, unlike }) =>
      unlike.length > 0 ? [{ run, reason: `not comparable, ${unlike.join('; ')}` }] : [],
    ),
    ...gone.map((run) => ({ run, reason: `missing in the second under ${run.profile}` })),
    ...pairs.flatMap(({ run, former }) =>
      former ? [] : [{ run, reason: `missing in the first under ${run.profile}` }],
    ),
  ]);
  const isFine = ({ verdict }: Difference) => verdict !== 'regression' && verdict !== 'unlike';
  return { compared, notes, passed: gone.length === 0 && compared.every((run) => run.differences.every(isFine)) };
}

function unlikely(difference: Difference): Difference {
  return { ...difference, verdict: 'unlike' };
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
