import { randomUUID } from 'node:crypto';
import { unscoped } from '../../src/chassis/context/run-as.ts';
import { databaseKindOf } from '../../src/chassis/database/client/database-kind.ts';
import type { AnyListPolicy } from '../../src/chassis/index.ts';
import { registeredPolicies } from '../../src/chassis/loaders/mounted-routers.ts';
import type { TestClient } from '../../src/chassis/testing/test-client.ts';
import { readModels } from './models.ts';
import type { TestApp } from './test-app.ts';

/** A tenant with rows of its own, who asks as its administrator. */
export interface FilledTenant {
  name: string;
  client: TestClient;
  /** The identifiers of its rows, of every model with a scope. */
  ids: ReadonlySet<string>;
}

/**
 * Gives a tenant of the service of test/fixtures/service rows of every model with a scope.
 *
 * @returns the tenant's administrator
 */
export async function fillTenant(app: TestApp): Promise<TestClient> {
  const [tenantId, userId] = [randomUUID(), randomUUID()];
  const products = await app.orm.product.findMany({ take: 3, select: { id: true, price: true } });
  await beyondScopes(app, async (orm) => {
    for (const [index, { id: productId, price }] of products.entries()) {
      await orm.stock.create({ data: { tenantId, productId, available: 9 } });
      const lines = { create: [{ productId, price, quantity: index + 1 }] };
      const own = { tenantId, ownerId: userId, number: `${tenantId} ${index}`, note: 'a note' };
      const { id: orderId } = await orm.order.create({ data: { ...own, internalNote: 'a note', lines } });
      await orm.payment.create({ data: { tenantId, orderId, amount: price } });
    }
  });
  return app.as({ userId, tenantId, roles: ['admin'], via: 'login' });
}

/** Looks at the database beyond the scopes of its models. */
// biome-ignore lint/suspicious/noExplicitAny: a test knows the shape of what it asks for
export function beyondScopes(app: TestApp, work: (orm: any) => PromiseLike<any>): Promise<any> {
  return app.service.run(() => unscoped('a test looks at all rows', async () => work(app.orm)));
}

/** Models whose rows belong to somebody, of the modules that run. */
export function scopedModels(app: TestApp): string[] {
  const { rules } = databaseKindOf(app.orm);
  return [...readModels().keys()].filter((model) => rules.of(model).scope !== undefined);
}

/** The identifiers of all rows of these models, by model. */
export async function allIds(app: TestApp, models: readonly string[]): Promise<Map<string, string[]>> {
  const accessor = (model: string) => model.charAt(0).toLowerCase() + model.slice(1);
  const read = (model: string) => beyondScopes(app, (orm) => orm[accessor(model)].findMany({ select: { id: true } }));
  const found = await Promise.all(
    models.map(async (model) => [model, (await read(model)).map(({ id }: { id: string }) => id)] as const),
  );
  return new Map(found);
}

/** Fills two tenants, and tells whose rows are whose. @param fill gives back the tenant's administrator */
export async function fillTwoTenants(
  app: TestApp,
  fill: (app: TestApp) => Promise<TestClient>,
): Promise<[FilledTenant, FilledTenant]> {
  const models = scopedModels(app);
  const filled = async (name: string): Promise<FilledTenant> => {
    const before = new Set([...(await allIds(app, models)).values()].flat());
    const client = await fill(app);
    const after = await allIds(app, models);
    const ids = new Map([...after].map(([model, all]) => [model, all.filter((id) => !before.has(id))]));
    for (const [model, own] of ids) {
      if (own.length === 0)
        throw new Error(`Expected rows of ${model} for each tenant, found none; make some where tenants are filled.`);
    }
    return { name, client, ids: new Set([...ids.values()].flat()) };
  };
  return [await filled('a'), await filled('b')];
}

/** The lists of an app that lead to a model with a scope. */
export function scopedLists(app: TestApp) {
  const scoped = new Set(scopedModels(app));
  return registeredPolicies(app.express).filter(({ policy }) =>
    modelsOf(policy.describe()).some((model) => scoped.has(model)),
  );
}

type Description = ReturnType<AnyListPolicy['describe']>;

/** The models that a list tells of, through relations too. */
function modelsOf({ model, filters, includes }: Description, known = new Set<string>()): string[] {
  if (known.has(model)) return [];
  known.add(model);
  const relations = [...Object.values(filters), ...Object.values(includes)].filter((rule) => 'describe' in rule);
  return [model, ...relations.flatMap((rule) => modelsOf(rule.describe(), known))];
}
