import { describe, expect, it } from 'vitest';
import type { Route } from '../../../load-tests/contract/resource.ts';
import { nextTurn, turnsOf } from '../../../load-tests/lib/day-plan.ts';
import type { World } from '../../../load-tests/lib/world.ts';
import { randomNumbers } from '../../../prisma/seed/random.ts';

const session = { token: 'token', endsAt: 0 };

/** A list that may be read whole and by record, with what is named beside. */
function aList(
  name: string,
  { routes = {}, ...more }: Partial<World['resource']> = {},
  world: Partial<World> = {},
): World {
  const route = (path = `/${name}`, guarded = false): Route => ({ path, guarded });
  const resource = {
    ...{ name, path: `/${name}`, pageSize: { default: 10, maximum: 100 }, fields: {}, sorts: {}, filters: {} },
    ...{ relations: [], searchBox: false, actions: [], ...more },
    routes: { search: route(), get: route(), ...routes },
  };
  const found = { ids: [], example: {}, wide: [], narrow: [], words: [] };
  return { resource, version: '1.0.0', session, total: 10, steady: false, ...found, ...world };
}

const guarded = (path: string): Route => ({ path, guarded: true });
const writes = { create: guarded('/p'), update: guarded('/p'), delete: guarded('/p') };
const products = aList('products', { routes: writes, create: {} });
const categories = aList('categories', { routes: writes, create: {} });
const stock = aList('stock', { searchBox: true }, { words: [{ word: 'lamp', total: 1 }] });
const orders = aList('orders', {
  routes: { export: guarded('/orders/export.csv') },
  actions: ['place', 'pay'],
  create: { properties: { lines: {} } },
});
const lists = [products, categories, stock, orders];

const ofLists = (given: readonly World[]) =>
  Object.fromEntries(
    turnsOf(given).map(({ scenario, lists: found }) => [scenario, found.map(({ resource }) => resource.name)]),
  );

describe('a day', () => {
  it('reads every list, and searches, exports, orders and writes where that is', () => {
    expect(ofLists(lists)).toMatchObject({
      'list-shallow': ['products', 'categories', 'stock', 'orders'],
      'read-one': ['products', 'categories', 'stock', 'orders'],
      'list-search': ['stock'],
      export: ['orders'],
      'place-order': ['orders'],
      'write-mix': ['products'],
    });
  });

  it('places only orders that can be placed and paid, and uploads what belongs to a record of a list', () => {
    const others = aList('orders', { create: { properties: { number: {} } } });
    const upload = { path: '/stock/{id}/picture', guarded: true, field: 'file' };
    const worlds = [products, others, stock].map((world) => ({ ...world, upload }));
    expect(ofLists(worlds)).not.toHaveProperty('place-order');
    expect(ofLists(worlds)).toHaveProperty('upload', ['stock']);
  });

  it('leaves out what takes a login where there is none, and a search box that finds nothing', () => {
    const without = lists.map(({ session: _, ...world }) => ({ ...world, words: [] }));
    expect(Object.keys(ofLists(without))).not.toEqual(expect.arrayContaining(['write-mix']));
    expect(Object.keys(ofLists(without)).filter((name) => /search|export|write/.test(name))).toEqual([]);
  });

  it('has each journey in its part of the day, half of the time of the first list', () => {
    const turns = turnsOf(lists);
    const evenly = randomNumbers(1);
    const count = (part: number) => {
      const counts: Record<string, number> = {};
      for (let index = 0; index < 4_000; index += 1) {
        const turn = nextTurn(turns, part, evenly);
        if (!turn) continue;
        for (const name of [turn.scenario, `list ${turn.world.resource.name}`]) counts[name] = (counts[name] ?? 0) + 1;
      }
      return counts;
    };
    const [night, noon] = [count(0), count(2)];
    expect(night['list-deep-cursor']).toBeGreaterThan(10 * (noon['list-deep-cursor'] ?? 0));
    expect(noon['place-order']).toBeGreaterThan(0);
    expect(noon['export']).toBeGreaterThan(0);
    expect(noon['list products']).toBeGreaterThan(1_600);
    for (const name of ['categories', 'stock', 'orders']) expect(noon[`list ${name}`]).toBeGreaterThan(200);
  });
});
