import { check } from 'k6';
import { type Answer, bodyOf } from './client.ts';

/** A product, as far as a list of them is looked at. */
export interface Product {
  id: string;
  price: number;
  category?: { name: string };
}

/** A page of products. */
export interface Page {
  data: Product[];
  page: number;
  pageSize: number;
  total: number;
  nextCursor?: string | null;
}

/** Negative when the first comes before the second; never zero, because every list ends with the id. */
export type Order = (one: Product, other: Product) => number;

export const byId: Order = (one, other) => (one.id < other.id ? -1 : 1);
export const byPrice: Order = (one, other) => one.price - other.price || byId(one, other);

/** What a page has to be. */
export interface Expected {
  /** Number of the page; none when it was asked for by cursor. */
  page?: number;
  pageSize: number;
  total: number;
  order: Order;
}

/** Reads a page and checks it against the contract of lists (spec.md: Paginated result). */
export function readPage(answer: Answer, expected: Expected): Page {
  const body = bodyOf<Page>(answer);
  check(answer, {
    'page and pageSize are those asked for': () =>
      body.pageSize === expected.pageSize && (expected.page === undefined || body.page === expected.page),
    'total is that of the start': () => body.total === expected.total,
    'page is as full as it can be': () => body.data.length === lengthOf(body, expected),
    'records are in order': () => composeMiddleware(body.data, expected.order),
    'Link names the pages around': () => linksFit(answer.headers['Link'] ?? '', body, expected),
  });
  return body;
}

/** Checks that a page begins behind the end of the one before it: no record twice, none out of order. */
export function checkNeighbours(before: Page, after: Page, order: Order): void {
  const [last, first] = [before.data.at(-1), after.data[0]];
  check(after, { 'pages do not overlap': () => !last || !first || order(last, first) < 0 });
}

/** Number of the last page. */
export function lastPage({ total, pageSize }: { total: number; pageSize: number }): number {
  return Math.max(1, Math.ceil(total / pageSize));
}

function lengthOf(body: Page, { page, pageSize, total }: Expected): number {
  if (page !== undefined) return Math.max(0, Math.min(pageSize, total - (page - 1) * pageSize));
  return body.nextCursor === null ? body.data.length : pageSize;
}

function composeMiddleware(data: Product[], order: Order): boolean {
  return data.every((record, index) => index === 0 || order(data[index - 1] as Product, record) < 0);
}

function linksFit(link: string, body: Page, { page, pageSize, total }: Expected): boolean {
  const names = (parameter: string, relation: string) => link.includes(`${parameter}>; rel="${relation}"`);
  if (page === undefined) {
    return body.nextCursor === null ? !link.includes('rel="next"') : names(`cursor=${body.nextCursor}`, 'next');
  }
  const last = lastPage({ total, pageSize });
  const previous = page === 1 ? !link.includes('rel="prev"') : names(`page=${page - 1}`, 'prev');
  const next = page >= last ? !link.includes('rel="next"') : names(`page=${page + 1}`, 'next');
  return previous && next && names('page=1', 'first') && names(`page=${last}`, 'last');
}
