import { type RegisteredPolicy, registeredPolicies } from '../../src/chassis/loaders/mounted-routers.ts';
import type { TestClient } from '../../src/chassis/testing/test-client.ts';
import type { TestApp } from './test-app.ts';

/** A list of a running application, and who may ask of it what the policy allows, with the least rights. */
export interface ReadableList extends RegisteredPolicy {
  /** Tells apart what `policyFor` chooses among, e.g. `/api/v1/users, list policy 2`. */
  name: string;
  client: TestClient;
}

/**
 * Every list that the modules of an application mount, with every policy that a caller may be held to, so that a test
 * covers modules that it does not know.
 */
export async function readableLists(app: TestApp): Promise<ReadableList[]> {
  const clients = app.service.modules.some((name) => /^(auth|access)$/.test(name))
    ? [app.as('user'), app.as('admin')]
    : [app];
  const lists: ReadableList[] = [];
  for (const registered of registeredPolicies(app.express)) {
    const before = lists.filter(({ path }) => path === registered.path).length;
    const name = registered.path + (before > 0 ? `, list policy ${before + 1}` : '');
    lists.push({ ...registered, name, client: await readerOf(registered, clients) });
  }
  return lists;
}

/** The first client that is held to this policy: it gets the fields of the record, and may sort by every key. */
async function readerOf({ path, policy }: RegisteredPolicy, clients: TestClient[]): Promise<TestClient> {
  const { fields, sorts } = policy.describe();
  for (const client of clients) {
    const { status, body } = await client.get(path);
    if (status !== 200) continue;
    const [record] = body.data;
    if (record && Object.keys(record).sort().join() !== [...fields].sort().join()) continue;
    const answers = await Promise.all(sorts.map((key) => client.get(path, { orderBy: { [key]: 'asc' } })));
    if (answers.every((answer) => answer.status === 200)) return client;
  }
  throw new Error(
    `Expected a client who is held to the policy of ${policy.model} at ${path}, found none; add one here.`,
  );
}
