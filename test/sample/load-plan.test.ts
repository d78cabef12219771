import { describe, expect, it } from 'vitest';
import { scenarioNames } from '../../load-tests/lib/catalogue.ts';
import { planRuns } from '../../load-tests/run/plan.ts';
import { bootTestApp } from '../modules/support/boot-test-app.ts';
import { ordersEnv } from '../modules/support/order-shop.ts';

const products = '/api/v1/products';
const [withOrders, without] = await Promise.all([bootTestApp({ env: ordersEnv() }), bootTestApp()]);
const all = { scenarios: scenarioNames, resources: [] };

describe('planRuns', () => {
  it('runs every scenario: of the largest open list, or of another that has what it lacks', async () => {
    const { runs, skipped } = await planRuns(withOrders.url, all, true);
    expect(skipped).toEqual([]);
    const ofAnother = ['list-search', 'place-order', 'export', 'day'];
    expect(runs).toEqual(
      scenarioNames.map((scenario) => ({ scenario, resource: ofAnother.includes(scenario) ? undefined : products })),
    );
  });

  it('leaves out what no list has, or only those that take credentials, and says so', async () => {
    const { runs, skipped } = await planRuns(without.url, all, true);
    expect(skipped).toEqual([
      `list-search: ${products} has no search box (q)`,
      `place-order: ${products} has no orders to place and pay`,
      `export: ${products} has no route that streams CSV or NDJSON`,
    ]);
    expect(runs).toHaveLength(scenarioNames.length - 3);
    const { skipped: closed } = await planRuns(withOrders.url, all, false);
    expect(closed).toContain(`list-search: ${products} has no search box (q)`);
    expect(closed).toContain(`write-mix: ${products} takes LOAD_EMAIL and LOAD_PASSWORD, or TOKEN`);
  });

  it('takes the lists that are named, and no other for what they lack', async () => {
    const asked = { scenarios: ['list-search', 'read-one'] as const, resources: ['products', 'stock'] };
    expect(await planRuns(withOrders.url, asked, true)).toEqual({
      runs: [
        { scenario: 'list-search', resource: '/api/v1/stock' },
        { scenario: 'read-one', resource: products },
        { scenario: 'read-one', resource: '/api/v1/stock' },
      ],
      skipped: [`list-search: ${products} has no search box (q)`],
    });
  });
});
