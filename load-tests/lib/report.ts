import type { ScenarioName } from './catalogue.ts';
import { profileName } from './options.ts';
import { type SummaryData, summarize } from './run-summary.ts';
import { summaryTable } from './summary-table.ts';

/** Makes a scenario's `handleSummary`: prints the table, or writes its row as JSON to SUMMARY_FILE if that is set. */
export function reportOf(scenario: ScenarioName): (data: SummaryData) => Record<string, string> {
  return (data) => {
    // A refused target was not measured.
    if (!data.metrics['iterations']) return {};
    const run = summarize(scenario, profileName, data);
    const file = __ENV['SUMMARY_FILE'];
    return file ? { [file]: JSON.stringify(run) } : { stdout: `\n${summaryTable([run])}` };
  };
}
