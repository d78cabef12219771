import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { read, readYaml, skipped, tool } from '../../../chart/chart.ts';
import { bootTestApp } from '../../../support/boot-test-app.ts';
import { seriesOf } from './scrape.ts';

const app = await bootTestApp({ provider: 'postgresql' });
// Each metric has a series once what it counts has happened.
await Promise.all(Array.from({ length: 20 }, () => app.get('/api/v1/products')));
await app.get('/api/v1/products/nothing');
app.service.metrics.overload.limited('client');
app.service.metrics.jobs.declare('charge');
app.service.metrics.jobs.began('charge', 1);
app.service.metrics.jobs.ended('charge', 'completed', 1);
const { text } = await app.internal.get('/metrics');

/** The labels of each metric of the service, by the metric's name as Prometheus stores it. */
const offered = new Map<string, Set<string>>();
for (const series of Object.keys(seriesOf(text))) {
  const [name = '', labels = ''] = series.split(/[{}]/);
  const known = offered.get(name) ?? new Set();
  for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label);
  offered.set(name, known);
}

/** What Prometheus adds to every series by itself. */
const added = ['job', 'instance', 'namespace', 'pod'];

const dashboard = JSON.parse(read('files/dashboard.json'));
const queries: string[] = dashboard.panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) =>
  targets.map(({ expr }) => expr),
);
const alerts: string[] = readYaml('files/alerts.yaml').groups[0].rules.map(({ expr }: { expr: string }) => expr);

/** Metrics that an expression reads and the service lacks, and labels that it uses and the metric lacks. */
function lacking(expression: string): string[] {
  const selectors = [...expression.matchAll(/\b([a-z]\w*)\{([^}]*)\}/g)];
  const read = selectors.map(([, name = '', matchers = '']) => ({
    name,
    labels: matchers.match(/\w+(?=\s*[=!]~?)/g) ?? [],
  }));
  const grouped = [...expression.matchAll(/\b(?:by|without) \(([^)]*)\)/g)].flatMap(([, labels = '']) =>
    labels.split(/,\s*/),
  );
  const labels = (names: string[]) => new Set([...added, ...names.flatMap((name) => [...(offered.get(name) ?? [])])]);
  return [
    ...read.filter(({ name }) => !offered.has(name)).map(({ name }) => name),
    ...read.flatMap((one) =>
      one.labels.filter((label) => !labels([one.name]).has(label)).map((label) => `${one.name}{${label}}`),
    ),
    ...grouped.filter((label) => !labels(read.map(({ name }) => name)).has(label)).map((label) => `by (${label})`),
  ];
}

describe('/metrics', () => {
  it.each(queries)('has what the dashboard asks: %s', (query) => {
    expect(query).toMatch(/\w\{/);
    expect(lacking(query)).toEqual([]);
  });

  it.each(alerts)('has what an alert watches: %s', (alert) => {
    expect(alert).toMatch(/\w\{/);
    expect(lacking(alert)).toEqual([]);
  });

  it('would be seen to lack a metric or a label', () => {
    expect(lacking('sum by (job, shop) (rate(orders_total{job="a"}[5m])) / build_info{colour="red"}')).toEqual([
      'orders_total',
      'build_info{colour}',
      'by (shop)',
    ]);
  });

  it('tells the state of the connection pool and of shared reads', () => {
    const series = seriesOf(text);
    expect(series['database_pool_connections{state="in_use"}']).toBe(0);
    expect(series['database_pool_connections{state="idle"}']).toBeGreaterThan(0);
    expect(series['database_pool_waiting']).toBe(0);
    expect(series['database_reads_coalesced_total']).toBeGreaterThan(0);
  });

  it.skipIf(skipped('promtool'))(`holds nothing that promtool objects to${skipped('promtool')}`, () => {
    const { status, stderr } = spawnSync(tool('promtool') ?? '', ['check', 'metrics'], {
      input: text,
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
  });
});
