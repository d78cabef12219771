import { describe, expect, it } from 'vitest';
import type { TestClient } from '../../src/chassis/testing/test-client.ts';
import { describeAnyQuery } from '../leaks/describe-any-query.ts';
import { describeLeaks } from '../leaks/describe-leaks.ts';
import { describeTenants } from '../leaks/describe-tenants.ts';
import { bootTestApp } from '../modules/support/boot-test-app.ts';
import { act, aDraft, aTenant, openOrderShop, ordersEnv } from '../modules/support/order-shop.ts';
import { describeLists } from '../spec/describe-lists.ts';
import { describeMalformed } from '../spec/describe-malformed.ts';
import { readableLists } from '../support/readable-lists.ts';
import { routesOn } from '../support/routes-on.ts';
import type { TestApp } from '../support/test-app.ts';
import { fillTwoTenants } from '../support/two-tenants.ts';

const app = await bootTestApp({ env: ordersEnv() });
const lists = await readableLists(app);
const { app: shop } = await openOrderShop();

/** Gives a tenant rows of every model with a scope; a module whose rows belong to somebody adds its own here. */
async function fillTenant(to: TestApp): Promise<TestClient> {
  const { admin, user, products } = await aTenant(to, 9, 9);
  const orders = await Promise.all([1, 2, 3].map((quantity) => aDraft(user, products, quantity, 1)));
  const [paid, placed] = orders as [{ id: string }, { id: string }];
  await Promise.all([paid, placed].map(({ id }) => act(user, 'place', id).expectData()));
  await act(user, 'pay', paid.id).expectData();
  return admin;
}
const strict = await bootTestApp({ env: { BODY_LIMIT_BYTES: '1000' } });
const filled = await fillTwoTenants(shop, fillTenant);

describe('the lists of the reference service', () => {
  it('are all under test', () => {
    const mounted = routesOn(app.express).filter(({ path }) => path.endsWith('/paginated'));
    expect(new Set(lists.map(({ path }) => `${path}/paginated`))).toEqual(new Set(mounted.map(({ path }) => path)));
    expect(lists.length).toBeGreaterThan(8);
  });

  it('are among the routes that spec.md names for the example modules', async () => {
    const { body } = await app.get('/api-docs.json');
    expect(Object.keys(body.paths)).toEqual(
      expect.arrayContaining([
        '/api/v1/users',
        '/api/v1/users/{id}',
        '/api/v1/profiles',
        '/auth/login',
        '/auth/register',
        '/auth/refresh',
      ]),
    );
  });

  describe('as spec.md has lists', () => describeLists(lists));
  describe('asked for what they do not declare', () => describeLeaks(lists));
  describe('asked for anything', () => describeAnyQuery(lists));
  describe('asked by two tenants', () => describeTenants(shop, filled));
});

describe('malformed requests to the reference service', async () => {
  const taking = await describeMalformed(strict);

  it('are sent to all that takes a body', () => expect(taking).toContainEqual(['post', '/auth/register']));
});
