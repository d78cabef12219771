import { columns } from '../lib/summary-table.ts';
import { chart, type Line } from './chart.ts';
import type { Difference } from './compare-runs.ts';
import { changeOf } from './difference-table.ts';
import type { MeasuredRun } from './k6.ts';
import { markupText as text } from './markup-text.ts';
import { originLines } from './origin-of-run.ts';
import type { LoadReport } from './report.ts';
import type { Second } from './series.ts';
import { hasPassed } from './verdict.ts';

const style = `:root{color-scheme:light dark;font:15px/1.45 system-ui,sans-serif}body{max-width:1320px;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%;margin:.6rem 0}th,td{padding:.25rem .6rem;text-align:right;border-bottom:1px solid #8884}
th:first-child,td:first-child,td.text,th.text{text-align:left}.bad{color:#d33;font-weight:600}.good{color:#2a8f4a}
section{margin:2rem 0;border-top:2px solid #8886;padding-top:.4rem}.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(420px,1fr));gap:1rem}
figure{margin:0}svg{width:100%}svg text{font-size:11px;fill:currentColor}.grid{stroke:#8885}
figcaption span{margin-left:.8rem}figcaption i{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.3em}`;

/** A report for a browser: one file, without scripts and without anything to fetch. */
export function htmlReport(report: LoadReport): string {
  const { started, skipped, unmeasured } = report;
  const ended = unmeasured.map(({ scenario, resource, reason }) => `${scenario} ${resource}: ${reason}`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Load tests, ${text(started)}</title><style>${style}</style></head><body>
<h1>Load tests</h1>
<p>${[started, ...originLines(report.runs)].map(text).join('<br>')}</p>
${overview(report.runs)}
${list('Ended without a summary', ended)}
${list('Left out', skipped)}
${report.runs.map(section).join('\n')}
</body></html>
`;
}

function list(title: string, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  return `<h2>${title}</h2><ul>${lines.map((line) => `<li>${text(line)}</li>`).join('')}</ul>`;
}

function overview(runs: readonly MeasuredRun[]): string {
  const kinds = columns.map((_, index) => (index < 3 || index === columns.length - 1 ? ' class="text"' : ''));
  const titles = columns.map(([title], index) => `<th${kinds[index]}>${title}</th>`);
  const rows = runs.map((run) => {
    const [name = '', ...cells] = columns.map(([, cell]) => text(String(cell(run, runs))));
    const result = `<td class="text ${hasPassed(run) ? 'good' : 'bad'}">${cells.pop()}</td>`;
    const others = cells.map((cell, index) => `<td${kinds[index + 1]}>${cell}</td>`);
    return `<tr><td><a href="#${anchor(run)}">${name}</a></td>${others.join('')}${result}</tr>`;
  });
  return `<table><tr>${titles.join('')}</tr>${rows.join('')}</table>`;
}

function section(run: MeasuredRun): string {
  const { rate, seconds } = run.height;
  const height = `${text(run.profile)} of ${rate}${run.profile.startsWith('closed') ? ' users' : '/s'} for ${seconds} s`;
  return `<section id="${anchor(run)}"><h2>${text(run.scenario)} <small>${text(run.resource)}, ${run.records} records, ${height}</small></h2>
<div class="charts">${charts(run.series)}</div>
${usage(run)}${partTable(run)}${checkTable(run)}${beside(run)}</section>`;
}

function charts(series: readonly Second[]): string {
  if (series.length < 2) return '<p>No charts: too short a run, or one of a log.</p>';
  const line = (name: string, colour: string, value: (second: Second) => number | undefined): Line => ({
    name,
    colour,
    points: series.flatMap((second) => {
      const found = value(second);
      return found === undefined ? [] : [[second.at, found] as const];
    }),
  });
  return [
    chart('Time of a request', 'ms', [
      line('median', '#2a8f4a', ({ median }) => median),
      line('p95', '#e08a00', ({ p95 }) => p95),
      line('p99', '#c2185b', ({ p99 }) => p99),
    ]),
    chart('Requests', 'per second', [
      line('answered', '#1f77d0', ({ requests }) => requests),
      line('failed', '#d33', ({ failed }) => failed),
      line('dropped', '#888', ({ dropped }) => dropped),
    ]),
    chart('Users', 'at work', [line('users', '#7b4fc9', ({ users }) => users)]),
  ].join('');
}

function usage({ used }: MeasuredRun): string {
  if (!used) return '';
  const database = used.database > 0 ? `, and ${used.database} ms of PostgreSQL` : '';
  const core = used.service > 0 ? `, so one core takes ${Math.round(1000 / used.service)} of them a second` : '';
  return `<p>A request took ${used.service} ms of CPU of the service${core}${database}; the service had ${used.memory} MiB after the run.</p>`;
}

function partTable({ parts }: MeasuredRun): string {
  if (parts.length === 0) return '';
  const rows = parts.map(
    ({ name, requests, median, p95, p99 }) =>
      `<tr><td>${text(name)}</td><td>${requests}</td><td>${median}</td><td>${p95}</td><td>${p99}</td></tr>`,
  );
  return `<table><tr><th>request</th><th>count</th><th>median ms</th><th>p95 ms</th><th>p99 ms</th></tr>${rows.join('')}</table>`;
}

function checkTable({ checks, thresholds }: MeasuredRun): string {
  const lines = [
    ...checks.map(({ name, passes, fails }) => row(name, `${passes} held`, fails > 0 ? `${fails} failed` : '')),
    ...thresholds.map(({ name, ok }) => row(name, ok ? 'held' : '', ok ? '' : 'crossed')),
  ];
  return `<table><tr><th>check or threshold</th><th>held</th><th>failed</th></tr>${lines.join('')}</table>`;
}

function row(name: string, held: string, failed: string): string {
  return `<tr><td>${text(name)}</td><td>${held}</td><td class="bad">${failed}</td></tr>`;
}

/** How a run stands beside the base, or why it does not. */
function beside({ differences, note }: MeasuredRun): string {
  if (differences) return differenceRows(differences);
  return note ? `<p>Judged by limits of its own: ${text(note)}.</p>` : '';
}

function differenceRows(differences: readonly Difference[]): string {
  const lines = differences.map((difference) => {
    const { measure, before, after, verdict } = difference;
    const kind = verdict === 'regression' ? 'bad' : verdict === 'better' ? 'good' : '';
    return `<tr><td>${text(measure)}</td><td>${before}</td><td>${after}</td><td>${changeOf(difference)}</td><td class="${kind}">${verdict}</td></tr>`;
  });
  return `<table><tr><th>beside the base</th><th>before</th><th>after</th><th>change</th><th>verdict</th></tr>${lines.join('')}</table>`;
}

function anchor({ scenario, resource, profile }: MeasuredRun): string {
  return `${scenario}${resource}-${profile}`.replace(/[^\w-]+/g, '-');
}
