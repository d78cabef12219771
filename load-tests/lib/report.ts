import { profile } from './profiles.ts';
import { type SummaryData, summarize, summaryTable } from './run-summary.ts';

/** Makes a scenario's `handleSummary`: prints the table, or writes its row as JSON to SUMMARY_FILE if that is set. */
export function reportOf(scenario: string): (data: SummaryData) => Record<string, string> {
  return (data) => {
    // A refused target was not measured.
    if (!data.metrics['iterations']) return {};
    const run = summarize(scenario, profile, data);
    const file = __ENV['SUMMARY_FILE'];
    return file ? { [file]: JSON.stringify(run) } : { stdout: `\n${summaryTable([run])}` };
  };
}
