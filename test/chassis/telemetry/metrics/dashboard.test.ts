import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { chart, type Manifest, read, readYaml, root, skipped, tool } from '../../../chart/chart.ts';
import { bootTestApp } from '../../../support/boot-test-app.ts';
import { TestPrometheus, withoutPrometheus } from '../../../support/prometheus.ts';
import { startReplicatedPostgres } from '../../../support/replicated-postgres.ts';
import { seriesOf } from './scrape.ts';

/** Another service, which is busy at each first call. */
let calls = 0;
const carrier = createServer((_req, res) => {
  calls += 1;
  res.writeHead(calls % 2 === 1 ? 503 : 200, { 'content-type': 'application/json' }).end('{"at":"sea"}');
});
await once(carrier.listen(0, '127.0.0.1'), 'listening');
afterAll(() => {
  carrier.closeAllConnections();
  carrier.close();
});

const servers = await startReplicatedPostgres();
await servers.create('shop');

const app = await bootTestApp({
  provider: 'postgresql',
  modulesDirectory: join(root, 'test/fixtures/observed/modules'),
  env: {
    DATABASE_URL: servers.primary('shop'),
    DATABASE_READ_URL: servers.replica('shop'),
    DATABASE_MIGRATE: 'true',
    JOBS_POLL_MS: '100',
    CARRIER_URL: `http://127.0.0.1:${(carrier.address() as AddressInfo).port}`,
  },
  configure: (config) => ({ ...config, modules: [{ name: 'shipments', enabled: true, routesPrefix: '/api/v1' }] }),
});

/** A request whose client goes away once the service works on it. */
async function abandon(path: string): Promise<void> {
  const sent = request(`${app.url}${path}`).end();
  sent.on('error', () => undefined);
  const inFlight = async () => seriesOf((await app.internal.get('/metrics')).text)['http_requests_in_flight'];
  await vi.waitUntil(async () => (await inFlight()) === 1, { timeout: 10_000 });
  sent.destroy();
  await vi.waitUntil(async () => (await inFlight()) === 0, { timeout: 10_000 });
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

/** One round of all that dashboards show. */
async function live(): Promise<void> {
  collect();
  await Promise.all(Array.from({ length: 10 }, () => app.get('/api/v1/shipments').expectData()));
  await app.get('/api/v1/shipments/7/label').expectError(500, /Cannot read properties/);
  await app.get('/api/v1/shipments/7/position').expectData();
  await app.get('/api/v1/shipments/limited');
  await app.get('/api/v1/shipments/7/weight').expectError(500, /Database Operation Failed/);
  await app.get('/api/v1/nothing').expectError(404, /./);
  await app.post('/api/v1/shipments', { id: '7' }).expectData(202);
}

/** The labels of each metric of the service, by the metric's name as Prometheus stores it. */
async function offers(): Promise<Map<string, Set<string>>> {
  const offered = new Map<string, Set<string>>();
  for (const series of Object.keys(seriesOf((await app.internal.get('/metrics')).text))) {
    const [name = '', labels = ''] = series.split(/[{}]/);
    const known = offered.get(name) ?? new Set();
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label);
    offered.set(name, known);
  }
  return offered;
}

await vi.waitUntil(() => app.service.database.replica?.isUsed);
await live();
await app.get('/api/v1/shipments/limited').expectError(429, /./);
await abandon('/api/v1/shipments/7/events');
await app.internal.get('/readyz');
await vi.waitUntil(async () => {
  const names = await offers();
  return names.has('job_overdue_seconds') && names.has('nodejs_gc_duration_seconds_count');
});
const offered = await offers();

/** What Prometheus adds to every series by itself. */
const added = ['job', 'instance', 'namespace', 'pod'];

/** Each panel with what it asks, as `dashboard: panel`. */
const panels = globSync('files/dashboards/*.json', { cwd: chart })
  .toSorted()
  .flatMap((file) => {
    const shown: Manifest[] = JSON.parse(read(file)).panels.filter(({ type }: Manifest) => type !== 'row');
    return shown.map((panel) => ({
      name: `${basename(file, '.json')}: ${panel.title}`,
      queries: panel.targets.map(({ expr }: { expr: string }) => expr) as string[],
    }));
  });
const queries = panels.flatMap((panel) => panel.queries);
const alerts: string[] = readYaml('files/alerts.yaml').groups[0].rules.map(({ expr }: { expr: string }) => expr);

/** Metrics that an expression reads and the service lacks, and labels that it uses and the metric lacks; not those of Kubernetes. */
function lacking(expression: string): string[] {
  const selectors = [...expression.matchAll(/\b([a-z]\w*)\{([^}]*)\}/g)].filter(
    ([, name]) => !name?.startsWith('kube_'),
  );
  const asked = selectors.map(([, name = '', matchers = '']) => ({
    name,
    labels: [...matchers.matchAll(/(\w+)\s*[=!]~?"/g)].map(([, label = '']) => label),
  }));
  const grouped = [...expression.matchAll(/\b(?:by|without) \(([^)]*)\)/g)].flatMap(([, labels = '']) =>
    labels.split(/,\s*/),
  );
  const labels = (names: string[]) => new Set([...added, ...names.flatMap((name) => [...(offered.get(name) ?? [])])]);
  return [
    ...asked.filter(({ name }) => !offered.has(name)).map(({ name }) => name),
    ...asked.flatMap((one) =>
      one.labels.filter((label) => !labels([one.name]).has(label)).map((label) => `${one.name}{${label}}`),
    ),
    ...grouped.filter((label) => !labels(asked.map(({ name }) => name)).has(label)).map((label) => `by (${label})`),
  ];
}

describe('/metrics', () => {
  it.each(queries)('has what a dashboard asks: %s', (query) => {
    expect(query).toMatch(/\w\{/);
    expect(lacking(query)).toEqual([]);
  });

  it.each(alerts)('has what an alert watches: %s', (alert) => {
    expect(alert).toMatch(/\w\{/);
    expect(lacking(alert)).toEqual([]);
  });

  it.each(['docs/how-to/runbooks.md', 'docs/how-to/on-call.md', 'docs/how-to/jobs.md'])(
    'has every metric that %s names',
    (page) => {
      const families = new Set([...offered.keys()].map((name) => name.replace(/_(bucket|count|sum)$/, '')));
      const own = /`((?:http|database|exceptions|errors|jobs?|build|nodejs|process|metrics)_[a-z0-9_]+)(?:\{[^`]*)?`/g;
      const named = [...readFileSync(join(root, page), 'utf8').matchAll(own)].map(([, name = '']) => name);
      expect(named.filter((name) => !families.has(name))).toEqual([]);
    },
  );

  it('would be seen to lack a metric or a label', () => {
    expect(lacking('sum by (job, shop) (rate(orders_total{job="a"}[5m])) / build_info{colour="red"}')).toEqual([
      'orders_total',
      'build_info{colour}',
      'by (shop)',
    ]);
  });

  it('tells the state of the connection pool, of shared reads and of migrations', async () => {
    const series = seriesOf((await app.internal.get('/metrics')).text);
    expect(series['database_pool_connections{state="in_use"}']).toBeGreaterThanOrEqual(0);
    expect(series['database_pool_connections{state="idle"}']).toBeGreaterThan(0);
    expect(series['database_pool_waiting']).toBe(0);
    expect(series['database_reads_coalesced_total']).toBeGreaterThan(0);
    expect(series['database_migrations_pending']).toBe(0);
  });

  it.skipIf(skipped('promtool'))(`holds nothing that promtool objects to${skipped('promtool')}`, async () => {
    const { status, stderr } = spawnSync(tool('promtool') ?? '', ['check', 'metrics'], {
      input: (await app.internal.get('/metrics')).text,
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
  });
});

describe.skipIf(withoutPrometheus)(`a Prometheus that reads the service${withoutPrometheus}`, async () => {
  const prometheus = withoutPrometheus ? undefined : await TestPrometheus.start(app.internalUrl, { compose: true });
  /** As Grafana asks it for the service, in a window of a few scrapes. */
  const ask = (query: string, { job, namespace } = { job: 'orders', namespace: 'shop' }) => {
    const asked = query.replaceAll('$__rate_interval', '2m').replaceAll('$job', job);
    return prometheus?.query(asked.replaceAll('$namespace', namespace)) ?? [];
  };

  it('has read it often enough for a rate', async () => {
    const scrapes = () => ask('sum(count_over_time(up{job="orders"}[1m]))');
    await expect.poll(async () => (await scrapes())[0]?.value ?? 0, { timeout: 30_000 }).toBeGreaterThan(1);
    await live();
    await expect
      .poll(() => ask('rate(exceptions_total{job="orders", status="500"}[2m]) > 0'), { timeout: 30_000 })
      .not.toEqual([]);
  });

  it.each(panels)('shows something in $name', async ({ queries: asked }) => {
    for (const query of asked) {
      const values = async () => (await ask(query)).map(({ value }) => value).filter(Number.isFinite);
      await expect.poll(values, { message: query, timeout: 30_000 }).not.toEqual([]);
    }
  });

  it('shows the same outside of Kubernetes, where no series has a namespace', async () => {
    for (const query of queries) {
      const values = async () => (await ask(query, { job: 'compose', namespace: '.*' })).map(({ value }) => value);
      await expect.poll(async () => (await values()).filter(Number.isFinite), { message: query }).not.toEqual([]);
    }
  });

  it('shows nothing of a service of this name in another namespace', async () => {
    for (const query of queries.filter((asked) => !asked.includes('vector(0)'))) {
      expect(await ask(query, { job: 'orders', namespace: 'staging' }), query).toEqual([]);
    }
  });

  it('has no series that a legend of a panel names by a label which it lacks', async () => {
    const files = globSync('files/dashboards/*.json', { cwd: chart });
    const targets = files.flatMap((file) => JSON.parse(read(file)).panels.flatMap(({ targets: all = [] }) => all));
    for (const { expr, legendFormat } of targets as { expr: string; legendFormat: string }[]) {
      const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
      const [sample] = await ask(expr);
      for (const label of labels) expect(sample?.metric, expr).toHaveProperty(label);
    }
  });
});
