import { z } from 'zod';
import { badParameter } from '../parse/parameter.ts';
import { maxSkip } from '../policy/query-limits.ts';
import type { PageResult, Pause } from '../query-types.ts';

/** Parameters of a request's query by name; a parameter that is repeated has no place here. */
export type QueryInput = Readonly<Record<string, unknown>>;

/** The page that a request gets when it names none (spec.md: Limits). */
export const defaultPaging: Readonly<{ page: number; pageSize: number }> = Object.freeze({ page: 1, pageSize: 10 });

const integer = /^(0|-?[1-9]\d{0,14})$/;

/** A strict pagination schema with a largest `page` and `pageSize` (spec.md: QuerySchemas). */
export function paginationSchemaFor(limits: { page?: number; pageSize: number }) {
  const page = z.int().positive();
  return z.strictObject({
    page: limits.page === undefined ? page : page.max(limits.page),
    pageSize: z.int().positive().max(limits.pageSize),
  });
}

/**
 * Reads `page` and `pageSize` by a schema, after the defaults took the place of what was left out
 * (spec.md: Query parameters of list requests, rule 5). Only plain decimal integers are numbers.
 */
export function readPaging(
  query: QueryInput,
  schema: z.ZodType,
  defaults = defaultPaging,
): { page: number; pageSize: number } {
  const input: Record<string, unknown> = { ...defaults };
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    input[name] = name === 'page' || name === 'pageSize' ? toNumber(name, value) : value;
  }
  const result = schema.safeParse(input);
  if (!result.success) throw badPaging(result.error);
  const { page, pageSize } = result.data as { page: number; pageSize: number };
  checkReach(page, pageSize);
  return { page, pageSize };
}

function badPaging(error: z.ZodError): Error {
  const issues = error.issues.map(({ message }) => ({ path: '', message }));
  const [first] = error.issues;
  const parameter = first?.code === 'unrecognized_keys' ? first.keys[0] : first?.path.join('.');
  return badParameter(parameter ?? 'page', issues, error);
}

function toNumber(name: string, value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string' && integer.test(value)) return Number(value);
  throw badParameter(name, [{ path: '', message: 'expected a decimal integer, such as 2' }]);
}

function checkReach(page: number, pageSize: number): void {
  if (page * pageSize <= maxSkip) return;
  const message = `expected a page whose end is at most record ${maxSkip}, got page ${page} of ${pageSize} records`;
  throw badParameter('page', [{ path: '', message }]);
}

/** The longest header, in characters: proxies take 4 KB for all headers of an answer, some of which are others'. */
const maxCharacters = 2048;

/** What is kept of too many links, the most useful first. */
const preference = ['next', 'prev', 'first', 'last'];

/**
 * The `Link` header of a page (RFC 8288): first, prev, next and last where they exist and are known. In keyset mode
 * first and next, by cursor. Every other parameter of the request stays as it was. The header has at most 2,048
 * characters: links that do not fit are left out, last and first before prev and next; the body has page, total and
 * nextCursor in any case.
 *
 * @param url path and query of the request
 */
export function paginationLinks(
  url: string,
  page: Omit<PageResult, 'data'> & { data: { readonly length: number } },
): string {
  // Repeated in each link, a query that fills the header by itself is not even escaped.
  return url.length > maxCharacters ? '' : fitting(linksOf(url, page));
}

function fitting(links: readonly Link[]): string {
  const kept = new Set<Link>();
  let left = maxCharacters;
  for (const relation of preference) {
    const link = links.find((one) => one.relation === relation);
    if (!link || link.text.length + 2 > left) continue;
    kept.add(link);
    left -= link.text.length + 2;
  }
  return links
    .filter((link) => kept.has(link))
    .map(({ text }) => text)
    .join(', ');
}

interface Link {
  relation: string;
  text: string;
}

function linksOf(url: string, page: Parameters<typeof paginationLinks>[1]): Link[] {
  const target = targetOf(url);
  if (page.nextCursor !== undefined) {
    const first = target('cursor=', 'first');
    return page.nextCursor === null ? [first] : [first, target(`cursor=${page.nextCursor}`, 'next')];
  }
  const last = page.total === null ? undefined : Math.max(1, Math.ceil(page.total / page.pageSize));
  const links = [target('page=1', 'first')];
  if (page.page > 1) links.push(target(`page=${Math.min(page.page - 1, last ?? page.page)}`, 'prev'));
  const hasNext = last === undefined ? page.data.length === page.pageSize : page.page < last;
  if (hasNext) links.push(target(`page=${page.page + 1}`, 'next'));
  if (last !== undefined) links.push(target(`page=${last}`, 'last'));
  return links;
}

function targetOf(url: string): (parameter: string, relation: string) => Link {
  const start = url.indexOf('?');
  const path = start < 0 ? url : url.slice(0, start);
  const parameters =
    start < 0
      ? []
      : url
          .slice(start + 1)
          .split('&')
          .filter((part) => part !== '' && !isPosition(part));
  const base = escapeUri(`${path}?${parameters.map((part) => `${part}&`).join('')}`);
  return (parameter, relation) => ({ relation, text: `<${base}${parameter}>; rel="${relation}"` });
}

function isPosition(part: string): boolean {
  const name = part.split('=', 1)[0] as string;
  // Names may be percent-encoded too; only then are they worth decoding.
  const decoded = name.includes('%') ? [...new URLSearchParams(name).keys()][0] : name;
  return decoded === 'page' || decoded === 'cursor';
}

// What may not stand between the angle brackets of the header.
function escapeUri(text: string): string {
  return text.toWellFormed().replace(/[^\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]/g, encodeURIComponent);
}

/** Records of which the database made the JSON, so that an answer takes it as it is. */
export class StoredJson {
  /** The JSON of each record. */
  readonly texts: readonly string[];
  /** Whether it is that of a list, else that of the only record by itself. */
  readonly isList: boolean;
  /** How many characters it has. */
  readonly chars: number;
  #json: string | undefined;

  constructor(texts: readonly string[], isList: boolean) {
    this.texts = texts;
    this.isList = isList;
    let chars = isList ? 2 + Math.max(0, texts.length - 1) : 0;
    for (const text of texts) chars += text.length;
    this.chars = chars;
  }

  /** How many records the JSON holds. */
  get length(): number {
    return this.texts.length;
  }

  /** In one text, which a long one has as much memory for again as its records have. */
  get json(): string {
    this.#json ??= this.isList ? `[${this.texts.join(',')}]` : (this.texts[0] as string);
    return this.#json;
  }
}

/** Stored records of a list, which can also be looked at. */
export interface StoredList<T = object> extends StoredJson {
  readonly records: readonly T[];
  /** Makes `records`, which takes a while where they hold thousands of others. */
  load(pause: Pause): Promise<void>;
}

/** Not enumerable, so that a copy of a page has none. */
const unreadKey = Symbol('records that nobody looked at');

/** Of what stands before a page, such as a proxy that masks `data`, or inherits from it, the records are not those of the page. */
type Unread = { readonly page: object; readonly list: StoredList };
type UnreadPage = { [unreadKey]?: Unread | undefined };

/**
 * The `data` of all pages that nobody looked at. A getter of its own would give each page a hidden class, which V8 keeps,
 * with the page, until it collects the old generation.
 */
const unreadRecords: PropertyDescriptor & ThisType<UnreadPage> = {
  get() {
    return own(this, (this[unreadKey] as Unread).list.records);
  },
  set(records: object[]) {
    own(this, records);
  },
  enumerable: true,
  configurable: true,
};

/**
 * A page whose records are made of their JSON when somebody looks at `data`, and are the page's from then on. A copy of
 * the page is an ordinary one.
 */
export function storedPage<T>(list: StoredList<T>, rest: Omit<PageResult<T>, 'data'>): PageResult<T> {
  const page = Object.defineProperty({}, 'data', unreadRecords);
  Object.defineProperty(page, unreadKey, { value: { page, list }, writable: true });
  return Object.assign(page, rest) as PageResult<T>;
}

/** The JSON of a page's records, as long as nobody looked at them. */
export function unreadData(page: object): StoredList<object> | undefined {
  const unread = (page as UnreadPage)[unreadKey];
  return unread?.page === page ? unread.list : undefined;
}

function own(page: UnreadPage, records: readonly object[]): readonly object[] {
  page[unreadKey] = undefined;
  Object.defineProperty(page, 'data', { value: records, writable: true, enumerable: true, configurable: true });
  return records;
}

const remembered = 1000;
/** Filters of clients may be long, and a thousand of them are kept for each repository. */
const longestKey = 2000;

/** What was last known of each of 1,000 keys of at most 2,000 characters, the least recently kept forgotten first. */
export class Remembered<T> {
  readonly #known = new Map<string, T>();

  of(key: string | undefined): T | undefined {
    return key === undefined ? undefined : this.#known.get(key);
  }

  /** Something without a key, or with a long one, is not kept. */
  keep(key: string | undefined, known: T): void {
    if (key === undefined || key.length > longestKey) return;
    this.#known.delete(key);
    this.#known.set(key, known);
    if (this.#known.size > remembered) this.#known.delete(this.#known.keys().next().value as string);
  }
}

/** Remembers the last total of each filter. It only tells whether a page is likely to show the total by itself; no answer is made from it. */
export class TotalHints {
  readonly #totals = new Remembered<number>();

  /** Whether a page that ends before record `end` likely reaches past the last one. */
  endsWithin(key: string | undefined, end: number): boolean {
    const total = this.#totals.of(key);
    return total !== undefined && total < end;
  }

  /** Keeps the total of a filter. */
  remember(key: string | undefined, total: number): void {
    this.#totals.keep(key, total);
  }
}
