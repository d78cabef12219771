import { beforeAll, describe, expect, it } from 'vitest';
import { findK6, runK6 } from '../../load-tests/run/k6.ts';
import { skipped } from '../chart/chart.ts';
import { read } from '../house/repository.ts';
import { bootTestApp, type TestApp } from '../support/boot-test-app.ts';
import { TestPrometheus, withoutPrometheus } from '../support/prometheus.ts';
import { type PlantedFault, startProxy } from './load-proxy.ts';

interface Panel {
  title: string;
  targets: { refId: string; expr: string }[];
}

const dashboard: { panels: Panel[]; templating: { list: { query: { query: string } }[] } } = JSON.parse(
  read('compose/dashboards/load-tests.json'),
);
const { panels } = dashboard;
const missing = skipped('k6') || withoutPrometheus;

const app = (missing ? undefined : await bootTestApp({ env: { RATE_LIMIT_ENABLED: 'false' } })) as TestApp;
const prometheus = (missing ? undefined : await TestPrometheus.start(app.internalUrl)) as TestPrometheus;

/** What only shows something where iterations are dropped or checks fail. */
const ofTrouble = ['Iterations B', 'Checks that fail A'];

/** Each query of the dashboard as Grafana asks it of one run, by the title of its panel. */
function queries(testid: string): { name: string; query: string }[] {
  return panels.flatMap(({ title, targets }) =>
    targets.map(({ refId, expr }) => ({
      name: `${title} ${refId}`,
      query: expr.replaceAll('$testid', testid).replaceAll('$__rate_interval', '2m'),
    })),
  );
}

async function load(profile: string, target: string, rate: string) {
  const run = { scenario: 'read-one', profile, target, resource: undefined };
  const write = { duration: '5s', variables: {}, prometheus: `${prometheus.url}/api/v1/write` };
  return runK6(findK6(), { ...run, ...write, rate }, () => undefined);
}

describe.skipIf(missing)(`the dashboard of load tests${missing}`, () => {
  beforeAll(async () => {
    const measured = await load('smoke', app.url, '20');
    // What the report draws comes from the same run; k6 may leave out its last, started second.
    const drawn = measured.series.reduce((sum, { requests }) => sum + requests, 0);
    expect(drawn).toBeGreaterThan(measured.requests / 2);
    let asked = 0;
    const troubled: PlantedFault = {
      wait: () => (asked > 20 ? 3_000 : 0),
      refuse: () => {
        asked += 1;
        return asked > 20 && asked % 3 === 0;
      },
      answer: ({ url, text }) => (/[0-9a-f-]{36}$/.test(url.pathname) ? text.replace(/"id":"./, '"id":"-') : text),
    };
    await using proxy = await startProxy(app.url, troubled);
    await load('rollout', proxy.url, '10');
  }, 60_000);

  it('asks in each panel for what k6 sent by remote write, or the service tells', async () => {
    for (const { name, query } of queries('read-one-smoke').filter((one) => !ofTrouble.includes(one.name))) {
      await expect.poll(() => prometheus.range(query, 120), { message: `${name}: ${query}` }).not.toEqual([]);
    }
  });

  it('has panels that show nothing where all is well', async () => {
    for (const { name, query } of queries('read-one-smoke').filter((one) => ofTrouble.includes(one.name))) {
      expect(await prometheus.range(query, 120), name).toEqual([]);
    }
  });

  it('shows what fails, is dropped and does not hold', async () => {
    const told = ['Failed A', 'Dropped iterations A', ...ofTrouble];
    for (const { name, query } of queries('read-one-rollout').filter((one) => told.includes(one.name))) {
      const highest = async () =>
        Math.max(
          ...(await prometheus.range(query, 120)).flatMap(({ values }) => values.map(([, value]) => Number(value))),
        );
      await expect.poll(highest, { message: `${name}: ${query}` }).toBeGreaterThan(0);
    }
  });

  it('lets its reader choose among the runs that there are', async () => {
    const [, testid] = dashboard.templating.list;
    const [, metric = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(testid?.query.query ?? '') ?? [];
    const series = await prometheus.range(metric, 120);
    expect(new Set(series.map(({ metric: labels }) => labels[label]))).toEqual(
      new Set(['read-one-smoke', 'read-one-rollout']),
    );
  });
});
