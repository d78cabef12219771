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
  /** Where lists are read too; undefined without DATABASE_READ_URL. */
  readonly replica?: ListReplica | undefined;
}

/** Reads lists somewhere else, where that makes no difference to who asks. */
interface ListReplica {
  read<T>(there: (place: ReadPlace) => Promise<T>, here: () => Promise<T>): Promise<T>;
}

/** A client that a read may be made on, and what is known of its database. */
export interface ReadPlace {
  readonly client: object;
  readonly kind: Pick<DatabaseKind, 'reader' | 'readsJson'>;
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
