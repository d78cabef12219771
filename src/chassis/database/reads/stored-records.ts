import { Decimal } from '@prisma/client/runtime/client';
import { StoredJson } from '../../query/stored-json.ts';
import type { RecordKinds } from '../reader/write-statement.ts';
import { freezeRecords } from './coalesce.ts';

type Fields = Record<string, unknown>;

const made = {
  date: (text: string) => new Date(text),
  bigint: BigInt,
  decimal: (text: string) => new Decimal(text),
};

/** Records as JSON, and as the ORM gives them for who looks at them. */
export class StoredRecords<T extends object = object> extends StoredJson {
  readonly #texts: readonly string[];
  readonly #kinds: RecordKinds;
  #records: readonly T[] | undefined;

  constructor(texts: readonly string[], kinds: RecordKinds) {
    super(`[${texts.join(',')}]`, texts.length);
    this.#texts = texts;
    this.#kinds = kinds;
  }

  /** The first as JSON by itself. */
  get first(): StoredJson {
    return new StoredJson(this.#texts[0] as string, 1);
  }

  /** Frozen, and the same for all who ask. */
  get records(): readonly T[] {
    this.#records ??= freezeRecords(this.fresh());
    return this.#records;
  }

  /** Made anew for who asks. */
  fresh(): T[] {
    return this.#texts.map((text) => revive(JSON.parse(text), this.#kinds) as T);
  }
}

/** Gives the values of a record that JSON does not hold their type; changes the record given. */
function revive(record: Fields, kinds: RecordKinds): Fields {
  for (const name in kinds) {
    const kind = kinds[name] as RecordKinds[string];
    const value = record[name];
    if (value === null) continue;
    if (typeof kind === 'string') record[name] = made[kind](value as string);
    else if (Array.isArray(value)) for (const item of value) revive(item, kind);
    else revive(value as Fields, kind);
  }
  return record;
}
