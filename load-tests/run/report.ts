import type { Difference } from './compare-runs.ts';
import type { MeasuredRun } from './k6.ts';
import type { Machine } from './machine.ts';

/** All that a call of `npm run load` measured; `report.json` holds it. */
export interface LoadReport {
  readonly version: 1;
  /** When it began, ISO 8601. */
  readonly started: string;
  readonly target: string;
  /** The database of a service that was started for it. */
  readonly database?: string;
  readonly machine: Machine;
  readonly runs: readonly MeasuredRun[];
  /** What was left out, and why. */
  readonly skipped: readonly string[];
  /** How the runs differ from the base of this machine; none where there is no base. */
  readonly differences?: readonly Difference[];
}
