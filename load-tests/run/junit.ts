import type { Difference } from './compare-runs.ts';
import type { LoadReport } from './report.ts';

interface Case {
  name: string;
  /** What went wrong; none where it holds. */
  failure?: string;
}

/** A report as JUnit writes it: a suite for each scenario, a case for each check, threshold and comparison. */
export function junitReport(report: LoadReport): string {
  const suites = report.runs.map((run) => {
    const { differences = [] } = report;
    const own = differences.filter(({ scenario, resource }) => scenario === run.scenario && resource === run.resource);
    const cases = [
      ...run.checks.map(({ name, passes, fails }) => check(name, passes, fails)),
      ...run.thresholds.map(({ name, ok }): Case => (ok ? { name } : { name, failure: 'threshold crossed' })),
      ...own.map(compared),
    ];
    const name = `${run.scenario} ${run.profile} ${run.resource}`.trim();
    const failures = cases.filter(({ failure }) => failure).length;
    const head = `name="${text(name)}" tests="${cases.length}" failures="${failures}" time="${run.seconds}" timestamp="${report.started}"`;
    return `  <testsuite ${head}>\n${cases.map((one) => testCase(name, one)).join('')}  </testsuite>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="load tests">\n${suites.join('')}</testsuites>\n`;
}

function check(name: string, passes: number, fails: number): Case {
  return fails === 0 ? { name } : { name, failure: `failed ${fails} of ${passes + fails} times` };
}

function compared({ measure, before, after, verdict }: Difference): Case {
  const name = `${measure} beside the base`;
  return verdict === 'regression' ? { name, failure: `was ${before}, is ${after}` } : { name };
}

function testCase(suite: string, { name, failure }: Case): string {
  const head = `    <testcase classname="${text(suite)}" name="${text(name)}"`;
  return failure ? `${head}><failure message="${text(failure)}"/></testcase>\n` : `${head}/>\n`;
}

function text(raw: string): string {
  return raw.replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
