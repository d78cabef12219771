/**
 * Everything that must hold before a change is merged; CI runs this and nothing else. One line per step, the output of
 * a step only where it failed, and last the number of tests: `N passed, N failed`.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import process from 'node:process';

interface TestReport {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
}

const root = join(import.meta.dirname, '..');
const report = join(root, '.cache/vitest.json');

/** Steps of one stage run side by side; every stage runs, so that one look shows all that is wrong. */
const stages: Record<string, string>[] = [
  { generate: 'node scripts/generate.ts' },
  {
    types: 'tsc -p . --incremental --tsBuildInfoFile .cache/tsc.tsbuildinfo',
    'types of load tests': 'tsc -p load-tests',
    'types of the package': 'tsc -p tsconfig.package.json --noEmit',
    'lint, format': 'biome ci --colors=off --error-on-warnings .',
    'import rules': 'depcruise src --config .dependency-cruiser.mjs --output-type err-long',
  },
  { 'house rules, tests': 'npm test -- --reporter=default --reporter=json --outputFile.json=.cache/vitest.json' },
];

async function runStep([name, command]: [string, string]): Promise<boolean> {
  const started = performance.now();
  const path = `${join(root, 'node_modules/.bin')}${delimiter}${process.env['PATH']}`;
  const child = spawn(command, {
    cwd: root,
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH: path, NO_COLOR: '1' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const code = await new Promise((resolve) => child.on('close', resolve));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
  if (code !== 0) console.log(`\n$ ${command}\n${existsSync(report) ? failedTests() : ''}${failuresIn(output)}`);
  return code === 0;
}

/** What a runner says of failures, without the hundreds of lines about what passed before them. */
function failuresIn(output: string): string {
  const start = output.search(/^.*(?:Failed Suites|Failed Tests|Unhandled Errors)/m);
  return start === -1 ? output : output.slice(start);
}

/** One line for each test that failed: logs of CI are often cut, and their first lines are read first. */
function failedTests(): string {
  const lines = readReport().testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name);
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (status === 'failed' && failed.length === 0) return [`${file}: ${message}`];
    return failed.map((test) => `${file}: ${test.fullName}: ${test.failureMessages[0]?.split('\n', 1)[0]}`);
  });
  return `${lines.map((line) => `- ${line.slice(0, 300)}\n`).join('')}\n`;
}

function readReport(): TestReport {
  return JSON.parse(readFileSync(report, 'utf8')) as TestReport;
}

interface TestCount {
  passed: number;
  failed: number;
  skipped: number;
}

/** Counts what vitest reported. A test file that could not run has no failed test of its own, and counts as one. */
function countTests(testsPassed: boolean): TestCount {
  if (!existsSync(report)) return { passed: 0, failed: 1, skipped: 0 };
  const tests = readReport();
  const brokenFiles = tests.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed'),
  ).length;
  const failed = tests.numFailedTests + brokenFiles;
  const skipped = tests.numPendingTests + tests.numTodoTests;
  // An error outside every test fails the run and no test.
  return { passed: tests.numPassedTests, failed: failed === 0 && !testsPassed ? 1 : failed, skipped };
}

rmSync(report, { force: true });
const results: boolean[] = [];
for (const stage of stages) results.push(...(await Promise.all(Object.entries(stage).map(runStep))));
const { passed, failed, skipped } = countTests(results.at(-1) ?? false);
console.log(`${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`);
process.exitCode = results.every(Boolean) && failed === 0 ? 0 : 1;
