import type { ScenarioName } from './catalogue.ts';
import { heightOf, profileName } from './options.ts';
import { readOrigin } from './origin.ts';
import { type SummaryData, summarize } from './run-summary.ts';
import { summaryMark } from './summary-mark.ts';
import { summaryTable } from './summary-table.ts';
import { target } from './target.ts';

/** Makes a scenario's `handleSummary`: prints the table, with SUMMARY_LOG its row as JSON too, or writes that to SUMMARY_FILE if it is set. */
export function reportOf(scenario: ScenarioName): (data: SummaryData) => Record<string, string> {
  return (data) => {
    // A refused target was not measured. A run in which no user came to the end of a journey was.
    if (!data.setup_data) return {};
    const origin = readOrigin(__ENV['LOAD_ORIGIN'], target);
    const run = summarize({ scenario, profile: profileName, height: heightOf(scenario), origin }, data);
    const file = __ENV['SUMMARY_FILE'];
    const line = __ENV['SUMMARY_LOG'] ? `${summaryMark}${JSON.stringify(run)}\n` : '';
    return file ? { [file]: JSON.stringify(run) } : { stdout: `\n${summaryTable([run])}${line}` };
  };
}
