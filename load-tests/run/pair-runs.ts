import type { RunSummary } from '../lib/run-summary.ts';
import { listName } from '../lib/summary-table.ts';

/** A run, and the one before it that it stands beside. */
export interface Pair<Run extends RunSummary> {
  readonly run: Run;
  /** Of the same scenario, list and profile, and as like as there is one. */
  readonly former?: Run;
  /** Why the times of the two say nothing of each other; empty where they do. */
  readonly unlike: readonly string[];
}

/** Finds for a run the one of those before it that it can be compared with, or that comes closest. */
export function pairOf<Run extends RunSummary>(before: readonly Run[], run: Run): Pair<Run> {
  const [closest] = before
    .filter((former) => nameOf(former) === nameOf(run))
    .map((former) => ({ run, former, unlike: unlikeness(former, run) }))
    .sort((one, other) => one.unlike.length - other.unlike.length);
  return closest ?? { run, unlike: [] };
}

/** Runs by why they have no verdict, a line for each reason. */
export function linesByReason(runs: readonly { readonly run: RunSummary; readonly reason: string }[]): string[] {
  const rows = runs.map(({ run }) => run);
  const groups = Map.groupBy(runs, ({ reason }) => reason);
  const names = (some: typeof runs) => some.map(({ run }) => `${run.scenario} of ${listName(run, rows)}`).join(', ');
  return [...groups].map(([reason, some]) => `${reason}: ${names(some)}`);
}

/** The scenario, list and profile of a run, which tell it from the others of a report. */
export function nameOf({ scenario, resource, profile }: RunSummary): string {
  return `${scenario} of ${resource}, ${profile}`;
}

const conditions: readonly [name: string, of: (run: RunSummary) => string | number][] = [
  ['machine', ({ origin }) => origin.machine],
  ['service', ({ origin }) => origin.service],
  ['database', ({ origin }) => origin.database],
  ['rate', ({ height }) => height.rate],
  ['seconds', ({ height }) => height.seconds],
];

/** What two runs of one name differ in that makes their times unlike. The service may be of another version: that is worth a comparison. */
export function unlikeness(before: RunSummary, after: RunSummary): string[] {
  const differ = conditions.filter(([, of]) => of(before) !== of(after));
  // A list that is a little longer takes no other time.
  const isAsLong = Math.abs(after.records - before.records) <= 0.05 * before.records;
  const all: typeof conditions = isAsLong ? differ : [...differ, ['records', ({ records }) => records]];
  const isHeldKnown = before.held !== undefined && after.held !== undefined;
  const held = after.profile === 'breakpoint' && !isHeldKnown ? ['a log does not tell which rate was held'] : [];
  return [...all.map(([name, of]) => `${name} ${of(before)} → ${of(after)}`), ...held];
}
