import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { all, type Manifest, only, read, readYaml, root, skipped, tool } from './chart.ts';

const rules: Manifest[] = readYaml('files/alerts.yaml').groups[0].rules;
const dashboards = ['service', 'database', 'runtime', 'jobs'].map((name) => ({
  name,
  dashboard: JSON.parse(read(`files/dashboards/${name}.json`)),
}));
const panels = dashboards.flatMap(({ name, dashboard }) =>
  panelsOf(dashboard).map((panel) => [`${name}: ${panel.title}`, panel] as const),
);
const queries: string[] = panels.flatMap(([, { targets }]) => targets.map(({ expr }: Manifest) => expr));

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
  it.each(rules)('$alert speaks of one release, says what to do and leads to its runbook', (rule) => {
    const selectors = rule.expr.match(/\{[^}]*\}/g);
    for (const selector of selectors) expect(selector).toMatch(/job=~"\.\+"|job_name=~"\.\+-migrate"|pod=~"\.\+"/);
    expect(rule.annotations.runbook_url).toMatch(new RegExp(`/docs/how-to/runbooks\\.md#${rule.alert.toLowerCase()}$`));
    expect(rule.expr).toMatch(/> [0-9.]+$/);
    expect(rule.labels.severity).toMatch(/^(critical|warning)$/);
    expect(rule.annotations.description).toMatch(/^[A-Z].*\.$/);
  });

  it('have a runbook each, that says what to look at and what to do', () => {
    const runbooks = readFileSync(join(root, 'docs/how-to/runbooks.md'), 'utf8');
    const sections = runbooks.split(/^## /m).slice(1);
    expect(sections.map((section) => section.split('\n', 1)[0])).toEqual(rules.map(({ alert }) => alert));
    for (const section of sections) expect(section).toMatch(/\*\*Look\*\* .*\*\*Do\*\* /s);
  });

  it('fire in a test each, and are silent in one', () => {
    const tests: Manifest[] = parse(readFileSync(join(root, 'test/chart/alerts.test.yaml'), 'utf8')).tests;
    const cases = tests.flatMap(({ alert_rule_test: all }) => all);
    const names = (found: Manifest[]) => new Set(found.map(({ alertname }) => alertname));
    const all = new Set(rules.map(({ alert }) => alert));
    expect(names(cases.filter(({ exp_alerts: expected = [] }) => expected.length > 0))).toEqual(all);
    expect(names(cases.filter(({ exp_alerts: expected = [] }) => expected.length === 0))).toEqual(all);
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
      expect(expr).not.toMatch(/=~"\.\+/);
    }
    expect(expressions['FailedMigrations']).toContain('{job_name="orders-migrate",namespace="shop", condition="true"}');
    expect(expressions['FailedMigrations']).toContain(
      '{pod=~"orders-[^-]+-[^-]+",namespace="shop", container="migrate"',
    );
    expect(expressions['SlowRequests']).toMatch(/ > 0\.25$/);
    expect(expressions['FailingRequests']).toMatch(/ > 0$/);
    expect(expressions['ShedRequests']).toMatch(/ > 0\.02$/);
    expect(expressions['BlockedEventLoop']).toMatch(/ > 0\.2$/);
  });

  it('leads from each alert to the page that the values name', () => {
    const { spec } = only('PrometheusRule', { prometheusRule: { enabled: true, runbooks: 'https://wiki/runbooks' } });
    const urls = spec.groups[0].rules.map(({ annotations }: Manifest) => annotations.runbook_url);
    expect(urls).toEqual(rules.map(({ alert }) => `https://wiki/runbooks#${alert.toLowerCase()}`));
  });

  it('gives pods the labels, the name and the port by which the on-call page reaches those of a release named orders', () => {
    const page = readFileSync(join(root, 'docs/how-to/on-call.md'), 'utf8');
    const { metadata, spec } = only('Deployment');
    const [, label = '', value = ''] = /kubectl logs -l (\S+)=(\S+) --tail=-1/.exec(page) ?? [];
    expect(spec.template.metadata.labels[label]).toBe(value);
    const [, name, port] = /kubectl port-forward deploy\/(\S+) (\d+)/.exec(page) ?? [];
    expect(metadata.name).toBe(name);
    const ports = spec.template.spec.containers[0].ports.map(({ containerPort }: Manifest) => String(containerPort));
    expect(ports).toContain(port);
  });

  it('gives Grafana the dashboards as they stand in files/', () => {
    const { metadata, data } = only('ConfigMap', { grafanaDashboard: { enabled: true } });
    expect(metadata.labels).toMatchObject({ grafana_dashboard: '1' });
    const given = Object.entries<string>(data).map(([name, text]) => [name, JSON.parse(text)]);
    const expected = dashboards.map(({ name, dashboard }) => [`orders-${name}.json`, dashboard]);
    expect(Object.fromEntries(given)).toEqual(Object.fromEntries(expected));
  });
});

describe('the dashboards', () => {
  it.each(panels)('%s says what it shows, in a unit', (_title, panel) => {
    expect(panel.description).not.toBe('');
    expect(panel.fieldConfig.defaults.unit).not.toBe('');
    expect(panel.datasource.uid).toMatch(/^\$\{datasource\}$/);
  });

  it('speak of the chosen service of the chosen namespace only', () => {
    const selectors = queries.flatMap((expr) => expr.match(/\{[^}]*\}/g) ?? []);
    expect(selectors.filter((selector) => !selector.startsWith('{namespace=~"$namespace", job=~"$job"'))).toEqual([]);
    expect(queries.filter((expr) => !/\w\{/.test(expr))).toEqual([]);
  });

  it('have an address and a title of their own, and lead to each other', () => {
    const all = dashboards.map(({ dashboard }) => dashboard);
    for (const key of ['uid', 'title', 'description']) expect(new Set(all.map((one) => one[key])).size).toBe(4);
    for (const { links, tags } of all) expect(links).toMatchObject([{ type: 'dashboards', tags, includeVars: true }]);
  });

  it.each(dashboards)('$name has no panel over another, and each its own number', ({ dashboard }) => {
    const ids = dashboard.panels.map(({ id }: Manifest) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }: Manifest) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    );
    expect(cells.length).toBe(new Set(cells).size);
  });

  it.skipIf(skipped('promtool'))(`ask what Prometheus understands${skipped('promtool')}`, () => {
    const asked = queries.map((expr, index) => ({
      record: `panel:${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }));
    const text = stringify({ groups: [{ name: 'panels', rules: asked }] });
    expect(promtool(text, 'check', 'rules', 'alerts.yaml')).toMatchObject({ status: 0 });
  });
});

function panelsOf(dashboard: Manifest): Manifest[] {
  return dashboard.panels.filter(({ type }: Manifest) => type !== 'row');
}

function matches(labels: Record<string, string>, { matchLabels }: { matchLabels: Record<string, string> }): boolean {
  return Object.entries(matchLabels).every(([label, value]) => labels[label] === value);
}
