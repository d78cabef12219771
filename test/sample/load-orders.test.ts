import { describe, expect, it } from 'vitest';
import { skipped } from '../chart/chart.ts';
import { type PlantedFault, startProxy } from '../load-tests/load-proxy.ts';
import { admin, failedChecks, measureScenario, unlimited } from '../load-tests/run-scenario.ts';
import { bootTestApp, type TestApp } from '../modules/support/boot-test-app.ts';
import { openOrderShop, ordersEnv } from '../modules/support/order-shop.ts';

/** The second is where scenarios write, so that the lists of the first stay as they are. */
const app = (skipped('k6') ? undefined : await bootTestApp({ env: { ...unlimited, ...ordersEnv() } })) as TestApp;
const shop = skipped('k6') ? undefined : await openOrderShop(unlimited);

describe.skipIf(skipped('k6')).concurrent(`a load test of the module of orders${skipped('k6')}`, () => {
  it.each(['list-filtered-wide', 'list-include', 'list-search', 'export'])(
    'has %s without a line',
    async (scenario) => {
      const run = await measureScenario(scenario, app.url, { ...admin, RESOURCE: 'orders' });
      expect(run.failed, run.said).toBe(0);
      expect(failedChecks(run)).toEqual([]);
    },
  );

  it('is ordered from, by place-order: all is placed and paid once, found and exported', async () => {
    const { app: written, provider } = shop as NonNullable<typeof shop>;
    const run = await measureScenario('place-order', written.url, { ...admin, RATE: '25', DURATION: '2s' });
    expect(run.failed, run.said).toBe(0);
    expect(failedChecks(run), run.said).toEqual([]);
    const placed = run.checks.find(({ name }) => name === 'an order that is placed says so')?.passes ?? 0;
    expect(placed).toBeGreaterThan(2);
    expect(provider.charges.size).toBe(placed);
  });

  it('counts a refusal as one, and not as a check that failed', async () => {
    const isStock = ({ pathname, search }: URL) => /\/stock\/.*pageSize=50$/.test(`${pathname}${search}`);
    await using proxy = await startProxy(shop?.app.url ?? '', { refuse: isStock });
    const run = await measureScenario('place-order', proxy.url, { ...admin, PROFILE: 'spike', RATE: '1' });
    expect(run).toMatchObject({ checksFailed: 0, failed: run.requests, refused: run.requests });
  });

  it('has a search box of what its records refer to', async () => {
    const run = await measureScenario('list-search', app.url, { ...admin, RESOURCE: 'stock' });
    expect(failedChecks(run), run.said).toEqual([]);
  });
});

it.skipIf(skipped('k6'))(`a day of a shop is of all its lists${skipped('k6')}`, async () => {
  const pages = new Set<string>();
  const seen: PlantedFault['answer'] = ({ url, text }) => {
    // The setup reads pages of a size of its own.
    if (url.searchParams.has('page') && !url.searchParams.has('pageSize')) pages.add(url.pathname);
    return text;
  };
  await using proxy = await startProxy(shop?.app.url ?? '', { answer: seen });
  const run = await measureScenario('day', proxy.url, { ...admin, RATE: '15', DURATION: '4s' });
  expect(run.failed, run.said).toBe(0);
  expect(failedChecks(run), run.said).toEqual([]);
  expect([...pages]).toContain('/api/v1/products/paginated');
  expect(pages.size).toBeGreaterThan(2);
});
