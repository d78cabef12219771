import { getRequestContext } from 'slipway';
import { expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp();

it('a page whose total is known still is charged without the count, so that it does not pass for a search', async () => {
  const { productRepository } = app.service.container.cradle as unknown as {
    productRepository: { findPage(query: object): Promise<object> };
  };
  const costs: (number | undefined)[] = [];
  const findPage = productRepository.findPage.bind(productRepository);
  productRepository.findPage = async (query) => {
    const page = await findPage(query);
    costs.push(getRequestContext()?.cost);
    return page;
  };
  const ask = async (query = '') => {
    await app.get(`/api/v1/products/paginated?pageSize=20${query}`).expectData();
    return costs.at(-1) as number;
  };
  const counted = await ask();
  const withoutTotal = await ask('&count=none');
  expect(counted).toBeGreaterThan(withoutTotal + 40);
  if (app.service.database.provider === 'postgresql') {
    // Whatever is written on the server meanwhile, also by other tests, has the next page counted anew.
    await expect.poll(() => ask(), { timeout: 20_000 }).toBe(withoutTotal);
  } else {
    // SQLite has nothing that names the state of a database for less than a count.
    expect(await ask()).toBe(counted);
  }
});
