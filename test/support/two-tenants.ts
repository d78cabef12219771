import { databaseKindOf } from '../../src/chassis/database/client/database-kind.ts';
import type { AnyListPolicy } from '../../src/chassis/index.ts';
import { registeredPolicies } from '../../src/chassis/loaders/mounted-routers.ts';
import type { TestClient } from '../../src/chassis/testing/test-client.ts';
import type { TestApp } from './boot-test-app.ts';
import { readModels } from './models.ts';
import { act, aDraft, aTenant, beyondScopes } from './order-shop.ts';

/** A tenant with rows of its own, who asks as its administrator. */
export interface FilledTenant {
  name: string;
  client: TestClient;
  /** The identifiers of its rows, of every model with a scope. */
  ids: ReadonlySet<string>;
}

/**
 * Gives a tenant rows of every model with a scope; a module whose rows belong to somebody adds its own here.
 *
 * @returns the tenant's administrator
 */
async function fillTenant(app: TestApp): Promise<TestClient> {
  const { admin, user, products } = await aTenant(app, 9, 9);
  const orders = await Promise.all([1, 2, 3].map((quantity) => aDraft(user, products, quantity, 1)));
  const [paid, placed] = orders as [{ id: string }, { id: string }];
  await Promise.all([paid, placed].map(({ id }) => act(user, 'place', id).expectData()));
  await act(user, 'pay', paid.id).expectData();
  return admin;
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

/** Fills two tenants, and tells whose rows are whose. */
export async function fillTwoTenants(app: TestApp): Promise<[FilledTenant, FilledTenant]> {
  const models = scopedModels(app);
  const fill = async (name: string): Promise<FilledTenant> => {
    const before = new Set([...(await allIds(app, models)).values()].flat());
    const client = await fillTenant(app);
    const after = await allIds(app, models);
    const ids = new Map([...after].map(([model, all]) => [model, all.filter((id) => !before.has(id))]));
    for (const [model, own] of ids) {
      if (own.length === 0)
        throw new Error(`Expected rows of ${model} for each tenant, found none; make some in fillTenant().`);
    }
    return { name, client, ids: new Set([...ids.values()].flat()) };
  };
  return [await fill('a'), await fill('b')];
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
