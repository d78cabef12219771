import { AsyncLocalStorage } from 'node:async_hooks';

/** The versions of a record that a change may be made to, until the change takes them. */
export interface ExpectedVersion {
  readonly client: object;
  readonly model: string;
  readonly id: unknown;
  readonly versions: readonly unknown[];
  /** Whether a change has taken them: the ones after it are made to what it left. */
  taken: boolean;
}

const expected = new AsyncLocalStorage<ExpectedVersion>();

/** Runs work whose first change of a record is to be made to these versions of it only. */
export function expectingVersion<T>(version: ExpectedVersion, work: () => T): T {
  return expected.run(version, work);
}

/** The versions that a change of a record is to be made to; undefined for any. Reading them consumes them. */
export function takeExpectedVersion(client: object, model: string, id: unknown): readonly unknown[] | undefined {
  const version = expected.getStore();
  if (!version || version.taken || version.client !== client || version.model !== model || version.id !== id)
    return undefined;
  version.taken = true;
  return version.versions;
}
