import { beforeAll, describe, expect, it } from 'vitest';
import { findK6, runK6 } from '../../load-tests/run/k6.ts';
import { skipped } from '../chart/chart.ts';
import { read } from '../house/repository.ts';
import { bootTestApp, type TestApp } from '../support/boot-test-app.ts';
import { TestPrometheus, withoutPrometheus } from '../support/prometheus.ts';

interface Panel {
  title: string;
  targets: { expr: string }[];
}

const { panels }: { panels: Panel[] } = JSON.parse(read('compose/dashboards/load-tests.json'));
const missing = skipped('k6') || withoutPrometheus;

const app = (missing ? undefined : await bootTestApp({ env: { RATE_LIMIT_ENABLED: 'false' } })) as TestApp;
const prometheus = (missing ? undefined : await TestPrometheus.start(app.internalUrl)) as TestPrometheus;

describe.skipIf(missing)(`the dashboard of load tests${missing}`, () => {
  beforeAll(async () => {
    const run = { scenario: 'read-one', profile: 'smoke', target: app.url, resource: undefined };
    const write = `${prometheus.url}/api/v1/write`;
    const duration = { rate: '20', duration: '5s', variables: {}, prometheus: write };
    const measured = await runK6(findK6(), { ...run, ...duration }, () => undefined);
    // What the report draws comes from the same run; k6 may leave out its last, started second.
    const drawn = measured.series.reduce((sum, { requests }) => sum + requests, 0);
    expect(drawn).toBeGreaterThan(measured.requests / 2);
  });

  it('asks in each panel for what k6 sent by remote write, or the service tells', async () => {
    // Where nothing fails and nothing is dropped, these are empty as they should be.
    const empty = ['Checks that fail'];
    for (const { title, targets } of panels.filter((panel) => !empty.includes(panel.title))) {
      const [{ expr = '' } = {}] = targets;
      const query = expr.replaceAll('$testid', '.+').replaceAll('$__rate_interval', '2m');
      await expect.poll(() => prometheus.range(query, 60), { message: `${title}: ${query}` }).not.toEqual([]);
    }
  });

  it('takes the panels that show nothing where all is well', async () => {
    const [{ expr = '' } = {}] = panels.find(({ title }) => title === 'Checks that fail')?.targets ?? [];
    expect(await prometheus.range(expr.replaceAll('$testid', '.+'), 30)).toEqual([]);
  });
});
