import type { DataModel } from '../models/data-model.ts';
import type { ModelRules } from '../scope/model-rules.ts';
import type { JsonReader } from '../statements/json-reader.ts';
import type { DatabaseCounts } from './current-work.ts';
import type { DatabaseProvider } from './database-url.ts';

/** A database as those who translate queries for it need to know it. */
export interface DatabaseKind {
  readonly provider: DatabaseProvider;
  readonly dataModel: DataModel;
  readonly counts: DatabaseCounts | undefined;
  /** Whose rows a caller may see and touch. */
  readonly rules: ModelRules;
  /** Reads records as JSON. */
  readonly reader: JsonReader;
  /** Whether it reads all that it knows, or only what the ORM cannot read. */
  readonly readsJson: boolean;
}

const kinds = new WeakMap<object, DatabaseKind>();

/** Says what is known of the database that a client speaks to. */
export function nameDatabase(client: object, kind: DatabaseKind): void {
  kinds.set(client, kind);
}

/** Which database a client of `openDatabase` speaks to. */
export function providerOf(client: object): DatabaseProvider {
  return databaseKindOf(client).provider;
}

/** What is known of the database that a client of `openDatabase` speaks to. */
export function databaseKindOf(client: object): DatabaseKind {
  const kind = kinds.get(client);
  if (!kind) {
    const found = client === undefined ? 'nothing' : 'another object';
    throw new Error(
      `Expected the database client of a service, \`orm\` of its container, found ${found}; ` +
        'take repositories from the container, or hand its `orm` over.',
    );
  }
  return kind;
}
