import { AsyncLocalStorage } from 'node:async_hooks';

/** The versions of a record that a change may be made to, until the change takes them. */
export interface ExpectedVersion {
  readonly client: object;
  readonly model: string;
  readonly id: unknown;
  readonly versions: readonly unknown[];
  /** Whether a change has taken them: the ones after it are made to what it left. */
  taken: boolean;
  /** Whether any change has asked for them, also one that failed. */
  asked: boolean;
}

const expected = new AsyncLocalStorage<ExpectedVersion>();

/** Runs work whose first change of a record is to be made to these versions of it only. */
export function expectingVersion<T>(version: ExpectedVersion, work: () => T): T {
  return expected.run(version, work);
}

/**
 * The versions that a change of a record is to be made to; undefined for any. Reading them consumes them, until
 * `restoringVersion` gives them back.
 */
export function takeExpectedVersion(client: object, model: string, id: unknown): readonly unknown[] | undefined {
  const version = expected.getStore();
  if (!version || version.taken || version.client !== client || version.model !== model || version.id !== id)
    return undefined;
  version.taken = true;
  version.asked = true;
  return version.versions;
}

/**
 * Runs work, and gives the versions that it took back where it changed nothing: what is tried again after that, such as a
 * unit of work after a conflict, is made to the same versions and to no others.
 *
 * @param changed whether the result means a change. Default: each does, and only a failure does not.
 */
export async function restoringVersion<T>(work: () => Promise<T>, changed?: (result: T) => boolean): Promise<T> {
  const version = expected.getStore();
  if (!version || version.taken) return work();
  try {
    const result = await work();
    if (changed?.(result) === false) version.taken = false;
    return result;
  } catch (error) {
    version.taken = false;
    throw error;
  }
}
