import type { PageResult } from './query-types.ts';

/** Records of which the database made the JSON, so that an answer takes it as it is. */
export class StoredJson {
  readonly json: string;
  /** How many records the JSON holds. */
  readonly length: number;

  constructor(json: string, length: number) {
    this.json = json;
    this.length = length;
  }
}

/** Stored records of a list, which can also be looked at. */
export interface StoredList<T> extends StoredJson {
  readonly records: readonly T[];
}

const unread = new WeakMap<object, StoredJson>();

/**
 * A page whose records are made of their JSON when somebody looks at `data`, and are the page's from then on. A copy of
 * the page is an ordinary one.
 */
export function storedPage<T>(list: StoredList<T>, rest: Omit<PageResult<T>, 'data'>): PageResult<T> {
  const page = {
    get data(): T[] {
      return own(page, list.records as T[]);
    },
    set data(records: T[]) {
      own(page, records);
    },
    ...rest,
  };
  unread.set(page, list);
  return page;
}

/** The JSON of a page's records, as long as nobody looked at them. */
export function unreadData(page: object): StoredJson | undefined {
  return unread.get(page);
}

function own<T>(page: object, records: T[]): T[] {
  unread.delete(page);
  Object.defineProperty(page, 'data', { value: records, writable: true, enumerable: true, configurable: true });
  return records;
}
