import { describe, expect, it } from 'vitest';
import { exposition } from '../../../../src/chassis/telemetry/metrics/exposition.ts';
import { labelText, type MetricFamily } from '../../../../src/chassis/telemetry/metrics/metric-family.ts';
import { ModuleMetrics } from '../../../../src/chassis/telemetry/metrics/module-metrics.ts';
import { memoryLog } from '../../http/bare-app.ts';
import { openMetrics, seriesOf } from './scrape.ts';

const orders: MetricFamily = {
  name: 'orders_total',
  help: 'Orders.',
  type: 'counter',
  samples: () => [{ labels: labelText({ shop: 'a "b"\n\\' }), value: 3 }],
};
const none = new ModuleMetrics(memoryLog().logger);
const plain = 'text/plain; version=0.0.4; charset=utf-8';
const open = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

describe('exposition', () => {
  it.each([
    [openMetrics, open],
    ['application/openmetrics-text', open],
    ['Application/OpenMetrics-Text; version=1.0.0; escaping=allow-utf-8; q=0.6, text/plain; q=0.5', open],
    ['application/openmetrics-text; q=0.4, text/plain; q=0.5', plain],
    ['application/openmetrics-text; q=0', plain],
    ['application/openmetrics-text; q=nonsense', plain],
    ['*/*', plain],
    ['', plain],
    [undefined, plain],
  ])('answers the Accept header %s with %s', async (accept, contentType) => {
    expect((await exposition([orders], none, accept)).contentType).toBe(contentType);
  });

  it('names a counter as each format wants it, whichever was asked for before', async () => {
    const [first, second, third] = await Promise.all(
      [plain, open, plain].map(async (accept) => (await exposition([orders], none, accept)).text),
    );
    expect(first).toContain('# TYPE orders_total counter\norders_total{shop="a \\"b\\"\\n\\\\"} 3');
    expect(second).toContain('# TYPE orders counter\norders_total{shop="a \\"b\\"\\n\\\\"} 3');
    expect(second).toContain('# TYPE process_cpu_seconds counter');
    expect(second?.endsWith('# EOF\n')).toBe(true);
    expect(third).toContain('# TYPE process_cpu_seconds_total counter');
    const names = (text = '') => Object.keys(seriesOf(text)).map((series) => series.replace(/\{.*/, ''));
    expect(names(third)).toEqual(names(first));
  });

  it('tells of the process, and of the delay of its event loop, which is none where it is not late', async () => {
    const series = seriesOf((await exposition([], none, undefined)).text);
    expect(series['process_resident_memory_bytes']).toBeGreaterThan(10_000_000);
    expect(series['process_start_time_seconds']).toBeGreaterThan(1e9);
    // The first measurement has nothing to compare with.
    for (let blocks = 0; blocks < 3; blocks += 1) {
      const until = performance.now() + 220;
      while (performance.now() < until);
      for (let turns = 0; turns < 3; turns += 1) await new Promise(setImmediate);
    }
    const blocked = seriesOf((await exposition([], none, undefined)).text);
    expect(blocked['nodejs_eventloop_lag_max_seconds']).toBeGreaterThan(0.1);
    const lags = ['min', 'max', 'mean', 'p50', 'p90', 'p99'].map(
      (part) => series[`nodejs_eventloop_lag_${part}_seconds`],
    );
    for (const lag of lags) expect(lag).toSatisfy((seconds: number) => seconds >= 0 && seconds < 60);
  });
});
