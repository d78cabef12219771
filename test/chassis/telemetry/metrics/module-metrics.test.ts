import { Counter, collectDefaultMetrics, Gauge, Histogram, register } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { exposition } from '../../../../src/chassis/telemetry/metrics/exposition.ts';
import { ModuleMetrics } from '../../../../src/chassis/telemetry/metrics/module-metrics.ts';
import { memoryLog } from '../../http/bare-app.ts';
import { openMetrics, seriesOf } from './scrape.ts';

const family = { name: 'own_total', help: 'Own.', type: 'counter', samples: () => [{ labels: '', value: 1 }] } as const;
afterEach(() => register.clear());

async function scrape(modules: ModuleMetrics, accept?: string): Promise<string> {
  return (await exposition([family], modules, accept)).text;
}

describe('ModuleMetrics', () => {
  it('shows what a module counts, in its own metrics and in the default registry of prom-client', async () => {
    const modules = new ModuleMetrics(memoryLog().logger);
    const orders = new Counter({ name: 'orders_total', help: 'Orders.', labelNames: ['shop'], registers: [] });
    const carts = new Gauge({ name: 'carts', help: 'Carts.' });
    modules.add(orders);
    orders.inc({ shop: 'a' }, 3);
    carts.set(2);
    for (const accept of [undefined, openMetrics, undefined]) {
      const series = seriesOf(await scrape(modules, accept));
      expect([series['orders_total{shop="a"}'], series['carts']]).toEqual([3, 2]);
    }
  });

  it('shows the exemplars of a histogram', async () => {
    const modules = new ModuleMetrics(memoryLog().logger);
    const size = new Histogram({ name: 'size', help: 'S.', buckets: [1], enableExemplars: true, registers: [] });
    modules.add(size);
    size.observe({ value: 0.5, exemplarLabels: { trace_id: 'abc' } });
    expect(await scrape(modules, openMetrics)).toMatch(/size_bucket\{le="1"\} 1 # \{trace_id="abc"\} 0\.5/);
  });

  it('refuses a second metric of one name, and takes the same one twice', () => {
    const modules = new ModuleMetrics(memoryLog().logger);
    const one = new Counter({ name: 'orders_total', help: 'Orders.', registers: [] });
    modules.add(one);
    modules.add(one);
    expect(() => modules.add(new Counter({ name: 'orders_total', help: 'Others.', registers: [] }))).toThrow(
      'Expected one metric named orders_total, found a second',
    );
  });

  it('leaves out what would spoil the scrape, and warns of each once', async () => {
    const { logger, lines } = memoryLog();
    const modules = new ModuleMetrics(logger);
    new Counter({ name: 'own_total', help: 'Of the chassis too.' });
    const collect = () => {
      throw new Error('no answer from the shop');
    };
    modules.add(new Gauge({ name: 'broken', help: 'Broken.', registers: [], collect }));
    modules.add(new Gauge({ name: 'fine', help: 'Fine.', registers: [] }));
    const texts = [await scrape(modules), await scrape(modules)];
    for (const text of texts) {
      expect(seriesOf(text)).toMatchObject({ own_total: 1, fine: 0 });
      expect(text.match(/# TYPE own_total /g)).toHaveLength(1);
      expect(text).not.toContain('broken');
    }
    expect(lines.map(({ metric, reason }) => `${metric}: ${reason}`).toSorted()).toEqual([
      'broken: it could not be read',
      'own_total: the chassis has one of this name',
    ]);
  });

  it('shows the metrics of Node once where a module collects them too', async () => {
    const { logger, lines } = memoryLog();
    collectDefaultMetrics();
    const text = await scrape(new ModuleMetrics(logger));
    expect(text.match(/# TYPE process_cpu_seconds_total /g)).toHaveLength(1);
    expect(lines).toEqual([]);
  });
});
