import { resultOf } from '../lib/summary-table.ts';
import type { Difference } from './compare-runs.ts';
import type { MeasuredRun } from './k6.ts';
import { markupText as text } from './markup-text.ts';
import type { LoadReport } from './report.ts';
import { hasPassed } from './verdict.ts';

interface Case {
  name: string;
  /** What went wrong; none where it holds. */
  failure?: string;
  /** Why it was not run, or says nothing. */
  skipped?: string;
  /** What there is to know of one that holds. */
  says?: string;
}

interface Suite {
  name: string;
  seconds: number;
  cases: Case[];
}

/**
 * A report as JUnit writes it: a suite for each scenario, a case for each check, threshold and comparison, and a suite of
 * what was left out. A run that ended without a summary is a suite of one failure.
 */
export function junitReport(report: LoadReport): string {
  const { skipped, unmeasured } = report;
  const ran = report.runs.map((run): Suite => {
    const cases = [
      ...(run.profile === 'breakpoint' ? [held(run)] : judged(run)),
      ...(run.differences ?? []).map(compared),
    ];
    return { name: `${run.scenario} ${run.profile} ${run.resource}`.trim(), seconds: run.seconds, cases };
  });
  const ended = unmeasured.map(({ scenario, profile, resource, reason }): Suite => {
    const cases = [{ name: 'ends with a summary', failure: reason }];
    return { name: `${scenario} ${profile} ${resource}`.trim(), seconds: 0, cases };
  });
  const leftOut: Suite = { name: 'left out', seconds: 0, cases: skipped.map(leftOutCase) };
  const suites = [...ran, ...ended, ...(skipped.length > 0 ? [leftOut] : [])];
  const totals = counts(suites.flatMap(({ cases }) => cases));
  const head = `name="load tests" ${totals} timestamp="${report.started}"`;
  const texts = suites.map((suite) => suiteText(suite, report.started)).join('');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${head}>\n${texts}</testsuites>\n`;
}

function judged({ checks, thresholds }: MeasuredRun): Case[] {
  return [
    ...checks.map(({ name, passes, fails }) => check(name, passes, fails)),
    ...thresholds.map(({ name, ok }): Case => (ok ? { name } : { name, failure: 'threshold crossed' })),
  ];
}

/** A run that looks for the breaking point ends where checks and thresholds fail: its case is what it held until then. */
function held({ differences: _, ...run }: MeasuredRun): Case {
  return { name: 'a rate is held', [hasPassed(run) ? 'says' : 'failure']: resultOf(run) };
}

function suiteText({ name, seconds, cases }: Suite, started: string): string {
  const head = `name="${text(name)}" ${counts(cases)} time="${seconds}" timestamp="${started}"`;
  return `  <testsuite ${head}>\n${cases.map((one) => testCase(name, one)).join('')}  </testsuite>\n`;
}

function counts(cases: readonly Case[]): string {
  const failures = cases.filter(({ failure }) => failure).length;
  const skipped = cases.filter((one) => one.skipped).length;
  return `tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped}"`;
}

/** What was left out is told as `scenario: why`, or as why alone where it is a list. */
function leftOutCase(line: string): Case {
  const [name = '', ...why] = line.split(': ');
  return why.length > 0 ? { name, skipped: why.join(': ') } : { name: 'every scenario', skipped: line };
}

function check(name: string, passes: number, fails: number): Case {
  return fails === 0 ? { name } : { name, failure: `failed ${fails} of ${passes + fails} times` };
}

function compared({ measure, before, after, verdict }: Difference): Case {
  const name = `${measure} beside the base`;
  if (verdict === 'too few') return { name, skipped: 'too few requests to tell' };
  return verdict === 'regression' ? { name, failure: `was ${before}, is ${after}` } : { name };
}

function testCase(suite: string, { name, failure, skipped, says }: Case): string {
  const head = `    <testcase classname="${text(suite)}" name="${text(name)}"`;
  if (failure) return `${head}><failure message="${text(failure)}"/></testcase>\n`;
  if (skipped) return `${head}><skipped message="${text(skipped)}"/></testcase>\n`;
  return says ? `${head}><system-out>${text(says)}</system-out></testcase>\n` : `${head}/>\n`;
}
