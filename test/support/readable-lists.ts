import { type RegisteredPolicy, registeredPolicies } from '../../src/chassis/loaders/registered-policies.ts';
import type { TestApp } from './boot-test-app.ts';
import type { TestClient } from './test-client.ts';

/** A list of a running application, and who may read it with the least rights. */
export interface ReadableList extends RegisteredPolicy {
  client: TestClient;
}

/** Every list that the modules of an application mount, so that a test covers modules that it does not know. */
export async function readableLists(app: TestApp): Promise<ReadableList[]> {
  const clients = app.service.modules.includes('auth') ? [app.as('user'), app.as('admin')] : [app];
  const lists: ReadableList[] = [];
  for (const registered of registeredPolicies(app.express)) {
    lists.push({ ...registered, client: await readerOf(registered.path, clients) });
  }
  return lists;
}

async function readerOf(path: string, clients: TestClient[]): Promise<TestClient> {
  for (const client of clients) if ((await client.get(path)).status === 200) return client;
  throw new Error(`Expected a client who may read ${path}, found none; give readableLists() one.`);
}
