import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Principal } from '../../../../src/chassis/context/principal.ts';
import { runAs, unscoped } from '../../../../src/chassis/context/run-as.ts';
import type { OpenOrm } from '../../../../src/chassis/database/client/orm.ts';
import { withoutEmptyChoice } from '../../../../src/chassis/database/reads/empty-choice.ts';
import { Repository } from '../../../../src/chassis/database/repository.ts';
import type { Filter } from '../../../../src/chassis/query/query-types.ts';
import { databaseProviders, openEmptyDatabase } from '../../../support/empty-database.ts';
import { raised } from '../../../support/raised.ts';
import { aCaller } from '../../../support/tenant-shop.ts';

/** The categories of a caller's teams, which are its roles here. */
const ofTeams = ({ roles }: Principal): Filter => ({ OR: [...roles].map((name) => ({ name })) });

class CategoryRepository extends Repository<'category'> {
  protected readonly model = 'category';
  protected override readonly scope = (caller: Principal) => shape(ofTeams(caller)) as object;

  /** What a module's own method may do. */
  get own() {
    return this.orm.category;
  }
}

const shapes: readonly [name: string, shape: (choice: Filter) => Filter][] = [
  ['by itself', (choice) => choice],
  ['inside of AND', (choice) => ({ AND: [choice] })],
  ['inside of another', (choice) => ({ OR: [choice] })],
  ['beside another condition', (choice) => ({ ...choice, createdAt: { gt: new Date(0) } })],
];
let [[, shape]] = shapes as [(typeof shapes)[number]];

const member = aCaller('a', 'member', 'x', 'y');
const stranger: Principal = { ...member, userId: 'stranger', roles: new Set() };
const forms = databaseProviders.flatMap((provider) => (['json', 'orm'] as const).map((reads) => ({ provider, reads })));

describe.each(forms)('a choice among none on $provider, read as $reads', ({ provider, reads }) => {
  let open: OpenOrm;
  let categories: CategoryRepository;
  beforeAll(async () => {
    open = await openEmptyDatabase(provider, { DATABASE_JSON_READS: reads === 'json' });
    categories = new CategoryRepository({ orm: open.client });
  });
  afterAll(() => open.close());
  beforeEach(async () => {
    await unscoped('a test', async () => {
      await categories.own.deleteMany();
      await categories.own.createMany({ data: ['x', 'y', 'z'].map((name) => ({ name })) });
    });
  });

  const list = (where?: Filter) =>
    categories.findMany({
      ...{ model: 'Category', select: { id: true, name: true }, orderBy: [{ name: 'asc' }], take: 10 },
      ...(where && { where }),
    });
  const filter = { name: { not: 'none of them' } };

  it.each(shapes)('%s gives no row of a scope, filtered and by its id too', async (_name, form) => {
    shape = form;
    const all = await unscoped('a test', () => list());
    const { id } = all[2] as { id: string };
    await runAs(stranger, async () => {
      expect([await list(), await list(filter)]).toEqual([[], []]);
      expect([await categories.count(), await categories.count(filter)]).toEqual([0, 0]);
      expect([await categories.findById(id, { id: true }), await categories.findById(id)]).toEqual([null, null]);
      expect(await raised(() => categories.update(id, { name: 'taken' }))).toMatchObject({ statusCode: 404 });
      expect(await raised(() => categories.delete(id))).toMatchObject({ statusCode: 404 });
      expect(await raised(() => categories.create({ name: 'new' }))).toMatchObject({ statusCode: 403 });
      expect(await categories.own.updateMany({ where: filter, data: { name: 'taken' } })).toEqual({ count: 0 });
    });
    expect(await unscoped('a test', () => list())).toEqual(all);
    expect((await runAs(member, () => list(filter))).map(({ name }) => name)).toEqual(['x', 'y']);
  });

  it('of a filter holds for none beside a scope, a condition and a position', async () => {
    [[, shape]] = shapes as [(typeof shapes)[number]];
    const none = { OR: [] };
    await runAs(member, async () => {
      const { id } = (await list())[0] as { id: string };
      expect([await list(none), await list({ AND: [filter, none] }), await categories.count(none)]).toEqual([
        [],
        [],
        0,
      ]);
      expect(await categories.updateIf(id, none, { name: 'taken' })).toBeNull();
      for await (const found of categories.each({ where: none })) expect(found).toBeUndefined();
      expect(await categories.own.count({ where: { products: { none: none } } })).toBe(2);
      expect(await categories.own.deleteMany({ where: none })).toEqual({ count: 0 });
      expect(await categories.removeInBatches(none, new AbortController().signal)).toBe(0);
    });
    const products = { products: { some: none } };
    expect(await unscoped('a test', () => categories.own.count({ where: products }))).toBe(0);
  });
});

describe('a choice among none', () => {
  const column = (type: string, list = false) => ({ type, list, column: 'x' });
  const models = {
    Order: { table: 'orders', fields: { id: column('String'), lines: column('Line', true) }, indexes: [] },
    Line: {
      table: 'lines',
      fields: { note: column('Json'), tags: column('String', true), orderId: column('String') },
      indexes: [],
    },
  };

  it('is a column of the model that it is of, which can be compared', () => {
    const filter = { tenantId: 'a', lines: { some: { OR: [], AND: [{ orderId: 'x' }] } } };
    expect(withoutEmptyChoice(models, 'Order', filter)).toEqual({
      tenantId: 'a',
      lines: { some: { AND: [{ orderId: 'x' }, { orderId: { in: [] } }] } },
    });
  });
});
