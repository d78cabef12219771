import { compareValues, type FieldKind, type Row, valueAt } from './fields.ts';

/** A page of a list. */
export interface Page {
  readonly data: readonly Row[];
  readonly page: number;
  readonly pageSize: number;
  readonly total: number | null;
  readonly nextCursor?: string | null;
}

/** The key that a list is sorted by, ascending; every list ends with the id. */
export interface Order {
  readonly key: string;
  readonly kind: FieldKind;
}

/** What a page has to be. */
export interface Expected {
  /** Number of the page; none when it was asked for by cursor. */
  readonly page?: number;
  readonly pageSize: number;
  /** Number of matching records; undefined where it is not known or may change. */
  readonly total?: number;
  /** Whether others write meanwhile. Default false. */
  readonly shifting?: boolean;
  readonly order: Order;
}

/** The id of a record. */
export function idOf(row: Row): string {
  return String(row['id']);
}

/** Number of the last page. */
export function lastPage({ total, pageSize }: { total: number; pageSize: number }): number {
  return Math.max(1, Math.ceil(total / pageSize));
}

/** Whether a page is as full as it can be: a page that is too short hides records, one that is too long repeats them. */
export function isFull(body: Page, { page, pageSize, shifting, total = body.total ?? undefined }: Expected): boolean {
  if (page === undefined)
    return body.nextCursor === null ? body.data.length <= pageSize : body.data.length === pageSize;
  if (total === undefined) return body.data.length <= pageSize;
  // Records and total may come from two statements, between which others write: only the end of the list shows it.
  if (shifting && total - page * pageSize < pageSize) return body.data.length <= pageSize;
  return body.data.length === Math.max(0, Math.min(pageSize, total - (page - 1) * pageSize));
}

/**
 * Whether records are in order. Texts sort by the collation of the database, which a client cannot know: of them only
 * that equal ones stand together, each group sorted by id. `null` counts as such a text.
 */
export function isSorted(rows: readonly Row[], { key, kind }: Order, idKind: FieldKind): boolean {
  const groups = new Set<unknown>();
  return rows.every((row, index) => {
    const value = valueAt(row, key);
    const before = rows[index - 1];
    const difference = before ? compareValues(kind, valueAt(before, key), value) : -1;
    if (before && difference === 0) return (compareValues(idKind, before['id'], row['id']) ?? -1) < 0;
    if (difference !== undefined) {
      groups.add(value);
      return difference < 0;
    }
    const isNew = !groups.has(value);
    groups.add(value);
    return isNew;
  });
}

/** Whether no record stands twice in these pages. */
export function areDistinct(...pages: readonly (readonly Row[])[]): boolean {
  const ids = pages.flat().map(idOf);
  return new Set(ids).size === ids.length;
}

/** Whether two pages are what one of double size is: none twice, none missing, none elsewhere. */
export function areSameRows(parts: readonly (readonly Row[])[], whole: readonly Row[]): boolean {
  return parts.flat().map(idOf).join() === whole.map(idOf).join();
}

/** Whether the `Link` header names the pages around this one (RFC 8288), or the next cursor. */
export function linksFit(link: string, body: Page, { page, pageSize, total = body.total ?? 0 }: Expected): boolean {
  const names = (parameter: string, relation: string) =>
    new RegExp(`[?&]${escapePattern(parameter)}(&[^>]*)?>; rel="${relation}"`).test(link);
  if (page === undefined) {
    return body.nextCursor === null ? !link.includes('rel="next"') : names(`cursor=${body.nextCursor}`, 'next');
  }
  const last = lastPage({ total, pageSize });
  const previous = page === 1 ? !link.includes('rel="prev"') : names(`page=${page - 1}`, 'prev');
  const next = page >= last ? !link.includes('rel="next"') : names(`page=${page + 1}`, 'next');
  return previous && next && names('page=1', 'first') && names(`page=${last}`, 'last');
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Whether `later` has all that `earlier` says: what a client wrote is what it reads. */
export function holds(later: Row | undefined, earlier: Row): boolean {
  return later !== undefined && Object.entries(earlier).every(([name, value]) => isEqual(later[name], value));
}

function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  return JSON.stringify(one) === JSON.stringify(other);
}
