import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenOrm } from '../../../src/chassis/database/client/orm.ts';
import { Repository } from '../../../src/chassis/database/repository.ts';
import type { AnyListPolicy } from '../../../src/chassis/query/policy/list-policy.ts';
import { databaseProviders, openEmptyDatabase } from '../../support/empty-database.ts';
import { allowedQueries } from './allowed-queries.ts';
import { categoryList, cursors, productList, profileList, userList } from './policies.ts';

class Products extends Repository<'product'> {
  protected readonly model = 'product';
}
class Categories extends Repository<'category'> {
  protected readonly model = 'category';
}
class Users extends Repository<'user'> {
  protected readonly model = 'user';
}
class Profiles extends Repository<'profile'> {
  protected readonly model = 'profile';
}

const categoryId = (number: number) => `00000000-0000-4000-8000-00000000000${number}`;

async function fill({ client }: OpenOrm): Promise<void> {
  for (let number = 0; number < 6; number++) {
    await client.category.create({ data: { id: categoryId(number), name: `category ${number}` } });
  }
  for (let number = 0; number < 24; number++) {
    const product = {
      sku: `s${number}`,
      name: `product ${number % 5}`,
      description: '',
      price: number % 4,
      categoryId: categoryId(number % 3),
    };
    await client.product.create({ data: { ...product, createdAt: new Date(Date.UTC(2026, 0, 1 + (number % 3))) } });
    const profile = { bio: null, location: number % 4 === 0 ? null : `place ${number % 3}` };
    const user = {
      email: `${number}@example.org`,
      passwordHash: 'x',
      name: `name ${number % 2}`,
      avatarUrl: number % 5 < 2 ? null : `${number % 5}`,
    };
    await client.user.create({ data: { ...user, ...(number % 3 !== 0 && { profile: { create: profile } }) } });
  }
}

/** Undefined for a query that costs more than a policy allows. */
function withinCost<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (JSON.stringify(error).includes('this request costs the database')) return undefined;
    throw error;
  }
}

describe.each(databaseProviders)('on %s', (provider) => {
  let open: OpenOrm;
  let lists: { policy: AnyListPolicy; repository: Pick<Products, 'findPage'>; orders: string[] }[];

  beforeAll(async () => {
    open = await openEmptyDatabase(provider);
    await fill(open);
    const orm = { orm: open.client };
    lists = [
      {
        policy: productList,
        repository: new Products(orm),
        orders: ['{"price":"desc","name":"asc"}', '{"category.name":"desc"}', '{"createdAt":"asc"}'],
      },
      { policy: categoryList, repository: new Categories(orm) as never, orders: ['{"name":"desc"}', '{"id":"desc"}'] },
      {
        policy: userList,
        repository: new Users(orm) as never,
        orders: [
          '{"avatarUrl":"asc"}',
          '{"profile.location":"desc"}',
          '{"name":"desc","profile.location":"asc","avatarUrl":"desc"}',
        ],
      },
      {
        policy: profileList,
        repository: new Profiles(orm) as never,
        orders: ['{"location":"desc","user.name":"asc"}'],
      },
    ];
  });
  afterAll(() => open.close());

  it('a walk by cursor meets every record once, in the order of the whole list', async () => {
    for (const { policy, repository, orders } of lists) {
      for (const orderBy of ['{}', ...orders]) {
        const whole = await repository.findPage(policy.parseSearch({ orderBy, pageSize: '100' }, cursors));
        const walked: unknown[] = [];
        for (let cursor: string | null | undefined = ''; typeof cursor === 'string'; ) {
          const page = await repository.findPage(policy.parseSearch({ orderBy, pageSize: '4', cursor }, cursors));
          walked.push(...page.data);
          expect(page.total).toBe(whole.total);
          cursor = page.nextCursor;
        }
        expect(walked, orderBy).toEqual(whole.data);
      }
    }
  });

  it('every query that a policy lets through is one that the database takes', async () => {
    for (const { policy, repository } of lists) {
      const property = fc.asyncProperty(allowedQueries(policy.rules), async (query) => {
        const search = withinCost(() => policy.parseSearch(query, cursors));
        fc.pre(search !== undefined);
        const { data } = await repository.findPage(search);
        for (const record of data) expect(Object.keys(record)).not.toContain('passwordHash');
      });
      await fc.assert(property, { numRuns: 50 });
    }
  }, 60_000);
});
