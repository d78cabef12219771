import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { all, type Manifest, only, read, readYaml, root, skipped, tool } from './chart.ts';

const rules: Manifest[] = readYaml('files/alerts.yaml').groups[0].rules;
const dashboard = JSON.parse(read('files/dashboard.json'));
const panels: Manifest[] = dashboard.panels.filter(({ type }: Manifest) => type !== 'row');
const queries: string[] = panels.flatMap(({ targets }) => targets.map(({ expr }: Manifest) => expr));

/** What the service's /metrics offers that rules and dashboard may speak of. */
const metrics = [
  'http_request_duration_seconds_bucket',
  'http_request_duration_seconds_count',
  'http_requests_in_flight',
  'http_requests_shed_total',
  'http_requests_rate_limited_total',
  'http_requests_admission_wait_seconds',
  'exceptions_total',
  'database_pool_connections',
  'database_pool_waiting',
  'database_query_duration_seconds_bucket',
  'database_query_duration_seconds_count',
  'database_reads_coalesced_total',
  'job_runs_total',
  'job_run_duration_seconds_bucket',
  'job_lag_seconds_bucket',
  'jobs_running',
  'build_info',
  'nodejs_eventloop_lag_p99_seconds',
  'nodejs_heap_size_used_bytes',
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
  'process_start_time_seconds',
];

function promtool(text: string, ...command: string[]): { status: number | null; text: string } {
  const directory = mkdtempSync(join(tmpdir(), 'slipway-rules-'));
  writeFileSync(join(directory, 'alerts.yaml'), text);
  cpSync(join(root, 'test/chart/alerts.test.yaml'), join(directory, 'test.yaml'));
  const { status, stdout, stderr } = spawnSync(tool('promtool') ?? '', command, { cwd: directory, encoding: 'utf8' });
  rmSync(directory, { recursive: true });
  return { status, text: stdout + stderr };
}

describe.skipIf(skipped('promtool'))(`promtool${skipped('promtool')}`, () => {
  it('accepts the alerts', () => {
    expect(promtool(read('files/alerts.yaml'), 'check', 'rules', 'alerts.yaml')).toMatchObject({ status: 0 });
  });

  it('sees each alert fire beyond its threshold, and no alert where all is well', () => {
    expect(promtool(read('files/alerts.yaml'), 'test', 'rules', 'test.yaml')).toEqual({
      status: 0,
      text: expect.stringContaining('SUCCESS'),
    });
  });

  it('sees a rule that is wrong', () => {
    const wrong = read('files/alerts.yaml').replace('sum by (job)', 'sum by job');
    expect(promtool(wrong, 'check', 'rules', 'alerts.yaml').status).not.toBe(0);
  });

  it.skipIf(skipped('helm'))(`accepts the PrometheusRule of a release${skipped('helm')}`, () => {
    const thresholds = { SlowRequests: 0.25 };
    const { spec } = only('PrometheusRule', { prometheusRule: { enabled: true, thresholds } });
    expect(promtool(stringify(spec), 'check', 'rules', 'alerts.yaml')).toMatchObject({ status: 0 });
  });
});

describe('the alerts', () => {
  it.each(rules)('$alert speaks of metrics that the service has, of one release, and says what to do', (rule) => {
    expect(metricsOf(rule.expr).filter((name) => !metrics.includes(name))).toEqual([]);
    const selectors = rule.expr.match(/\{[^}]*\}/g);
    for (const selector of selectors) expect(selector).toContain('job=~".+"');
    expect(rule.expr).toMatch(/> [0-9.]+$/);
    expect(rule.labels.severity).toMatch(/^(critical|warning)$/);
    expect(rule.annotations.description).toMatch(/^[A-Z].*\.$/);
  });

  it('have a runbook each, that says what to look at and what to do', () => {
    const runbooks = readFileSync(join(root, 'docs/runbooks.md'), 'utf8');
    const sections = runbooks.split(/^## /m).slice(1);
    expect(sections.map((section) => section.split('\n', 1)[0])).toEqual(rules.map(({ alert }) => alert));
    for (const section of sections) expect(section).toMatch(/\*\*Look\*\* .*\*\*Do\*\* /s);
    const named = [...runbooks.matchAll(/`((?:http|database|exceptions|jobs?|build)_\w+)`/g)].map(
      ([, name = '']) => name,
    );
    expect(named.filter((name) => !metrics.some((metric) => metric.startsWith(name)))).toEqual([]);
  });

  it('have a threshold each that values may replace', () => {
    const schema = JSON.parse(read('values.schema.json'));
    const named = Object.keys(schema.properties.prometheusRule.properties.thresholds.properties);
    expect(named).toEqual(rules.map(({ alert }) => alert));
  });
});

describe.skipIf(skipped('helm'))(`monitoring${skipped('helm')}`, () => {
  it('is off', () => {
    for (const kind of ['ServiceMonitor', 'PrometheusRule', 'ConfigMap']) expect(all(kind)).toEqual([]);
  });

  it('reads the metrics of every pod under the name of the release', () => {
    const values = { serviceMonitor: { enabled: true, labels: { release: 'prometheus' } } };
    const { metadata, spec } = only('ServiceMonitor', values);
    expect(metadata.labels).toMatchObject({ release: 'prometheus' });
    expect(spec.endpoints).toEqual([
      {
        port: 'internal',
        path: '/metrics',
        interval: '30s',
        relabelings: [{ targetLabel: 'job', replacement: 'orders' }],
      },
    ]);
    const { metadata: selected } = only('Service', values, 'orders-internal');
    expect(selected.labels).toMatchObject(spec.selector.matchLabels);
    expect(all('Service', values).filter(({ metadata: { labels } }) => matches(labels, spec.selector))).toHaveLength(1);
  });

  it('narrows every alert to the release, with the thresholds of the values', () => {
    const thresholds = { SlowRequests: 0.25, FailingRequests: 0, ShedRequests: 0.02 };
    const { spec } = only('PrometheusRule', { prometheusRule: { enabled: true, thresholds } });
    const expressions = Object.fromEntries(spec.groups[0].rules.map(({ alert, expr }: Manifest) => [alert, expr]));
    for (const expr of Object.values(expressions)) {
      expect(expr).toContain('job="orders",namespace="shop"');
      expect(expr).not.toContain('job=~');
    }
    expect(expressions['SlowRequests']).toMatch(/ > 0\.25$/);
    expect(expressions['FailingRequests']).toMatch(/ > 0$/);
    expect(expressions['ShedRequests']).toMatch(/ > 0\.02$/);
    expect(expressions['BlockedEventLoop']).toMatch(/ > 0\.2$/);
  });

  it('gives Grafana the dashboard as it stands in files/', () => {
    const { metadata, data } = only('ConfigMap', { grafanaDashboard: { enabled: true } });
    expect(metadata.labels).toMatchObject({ grafana_dashboard: '1' });
    expect(JSON.parse(data['orders.json'])).toEqual(dashboard);
  });
});

describe('the dashboard', () => {
  it.each(panels.map((panel) => [panel.title, panel] as const))('%s says what it shows, in a unit', (_title, panel) => {
    expect(panel.description).not.toBe('');
    expect(panel.fieldConfig.defaults.unit).not.toBe('');
    expect(panel.datasource.uid).toMatch(/^\$\{datasource\}$/);
  });

  it('speaks of metrics that the service has, of the chosen service', () => {
    expect(queries.flatMap(metricsOf).filter((name) => !metrics.includes(name))).toEqual([]);
    expect(queries.filter((expr) => !expr.includes('job=~"$job"'))).toEqual([]);
  });

  it('shows what the service makes', () => {
    const sources = globSync('src/chassis/telemetry/metrics/*.ts', { cwd: root });
    const text = sources.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
    const own = metrics.filter((name) => !/^(nodejs|process)_/.test(name));
    expect(own.filter((name) => !text.includes(`'${name.replace(/_(bucket|count)$/, '')}'`))).toEqual([]);
  });

  it('shows every metric that is named here', () => {
    const text = queries.join(' ');
    expect(metrics.filter((name) => !text.includes(name))).toEqual([]);
  });

  it('has no panel over another', () => {
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }: Manifest) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    );
    expect(cells.length).toBe(new Set(cells).size);
  });

  it.skipIf(skipped('promtool'))(`asks what Prometheus understands${skipped('promtool')}`, () => {
    const asked = queries.map((expr, index) => ({
      record: `panel:${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }));
    const text = stringify({ groups: [{ name: 'panels', rules: asked }] });
    expect(promtool(text, 'check', 'rules', 'alerts.yaml')).toMatchObject({ status: 0 });
  });
});

/** The metrics that an expression reads: the names in front of a selector. */
function metricsOf(expression: string): string[] {
  return [...expression.matchAll(/\b([a-z][a-z0-9_]*)\{/g)].map(([, name = '']) => name);
}

function matches(labels: Record<string, string>, { matchLabels }: { matchLabels: Record<string, string> }): boolean {
  return Object.entries(matchLabels).every(([label, value]) => labels[label] === value);
}
