import { check } from 'k6';
import exec from 'k6/execution';
import type { Condition } from '../contract/conditions.ts';
import { passes, whereOf } from '../contract/conditions.ts';
import {
  areDistinct,
  areSameRows,
  type Expected,
  isFull,
  isSorted,
  lastPage,
  linksFit,
  type Order,
  type Page,
} from '../contract/invariants.ts';
import { type Answer, ask, bodyOf, type Query } from './client.ts';
import { tokenOf } from './session.ts';
import type { World } from './world.ts';

/** What a page is asked for. */
export interface PageAsked {
  /** Groups requests in the report, e.g. `deep page`. */
  name: string;
  page?: number;
  cursor?: string;
  /** None asks for the default of the document. */
  pageSize?: number;
  /** How the answer has to be sorted; other than by the id it is asked for. */
  order: Order;
  conditions?: readonly Condition[];
  include?: object;
  q?: string;
  /** Records that match. */
  total?: number;
}

/** Asks for a page of the paginated list and checks all that must hold for it (spec.md: Paginated result). */
export function readPage(world: World, asked: PageAsked): Page | undefined {
  const { name, page, cursor, pageSize, order, conditions = [], include, q } = asked;
  const { resource, session } = world;
  const query: Query = {
    ...(page !== undefined && { page }),
    ...(cursor !== undefined && { cursor }),
    ...(pageSize !== undefined && { pageSize }),
    ...(conditions.length > 0 && { where: whereOf(conditions) }),
    ...(order.key !== 'id' && { orderBy: { [order.key]: 'asc' } }),
    ...(include && Object.keys(include).length > 0 && { include }),
    ...(q !== undefined && { q }),
  };
  const answer = ask(resource.routes.search?.path ?? '', { name, query, token: tokenOf(session) });
  return answer && checked(world, asked, answer);
}

function checked(world: World, asked: PageAsked, answer: Answer): Page {
  const { page, pageSize = world.resource.pageSize.default, order, conditions = [] } = asked;
  const body = bodyOf<Page>(answer);
  const total = world.steady ? asked.total : undefined;
  const expected: Expected = {
    pageSize,
    order,
    shifting: !world.steady,
    ...(page !== undefined && { page }),
    ...(total !== undefined && { total }),
  };
  const idKind = world.resource.fields['id'] ?? 'other';
  check(answer, {
    'page and pageSize are those asked for': () =>
      body.pageSize === pageSize && (page === undefined || body.page === page),
    'the page is as full as it can be': () => isFull(body, expected),
    'no record twice on a page': () => areDistinct(body.data),
    'records are in order': () => isSorted(body.data, order, idKind),
    'Link names the pages around': () => linksFit(answer.headers['Link'] ?? '', body, expected),
    ...(total !== undefined && { 'totals agree': () => body.total === total }),
    ...(conditions.length > 0 && {
      'every record passes the filter': () => body.data.every((row) => passes(row, conditions)),
    }),
  });
  return body;
}

/**
 * Checks that a page begins behind the end of the one before it. Pages by number shift while others write; those of a
 * cursor do not.
 */
export function checkNeighbours(world: World, before: Page, after: Page, order: Order): void {
  const idKind = world.resource.fields['id'] ?? 'other';
  const border = [...before.data.slice(-1), ...after.data.slice(0, 1)];
  check(after, {
    'no record twice across pages': () => areDistinct(before.data, after.data),
    'order holds across pages': () => isSorted(border, order, idKind),
  });
}

/** Whether this iteration also looks for missing records, which takes another request: every fifth does. */
export function isAudit(): boolean {
  return exec.scenario.iterationInTest % 5 === 0;
}

/** Checks that two pages are what one of double size is. */
export function checkWhole(parts: readonly Page[], whole: Page): void {
  check(whole, {
    'no record missing across pages': ({ data }) =>
      areSameRows(
        parts.map((part) => part.data),
        data,
      ),
  });
}

/** Two neighbouring pages by number, the first an odd one; every fifth time as one page of double size as well. */
export function readNeighbours(world: World, asked: PageAsked & { page: number }): void {
  const { pageSize = world.resource.pageSize.default, page, order } = asked;
  const first = readPage(world, asked);
  const second = readPage(world, { ...asked, page: page + 1 });
  if (!first || !second || !world.steady) return;
  checkNeighbours(world, first, second, order);
  if (!isAudit() || page % 2 === 0 || 2 * pageSize > world.resource.pageSize.maximum) return;
  const whole = readPage(world, { ...asked, name: 'audit', page: (page + 1) / 2, pageSize: 2 * pageSize });
  if (whole) checkWhole([first, second], whole);
}

/** What somebody browses page by page: conditions and an order, with related records or without. */
export interface Browsed extends Pick<PageAsked, 'name' | 'conditions' | 'order'> {
  /** Names of related records. */
  include: readonly string[];
  total: number;
  /** The last page that somebody looks at. */
  lastPage: number;
}

/** Two neighbouring pages of twenty records among the first ones. */
export function browse(world: World, { include, lastPage: last, ...asked }: Browsed): void {
  const pageSize = Math.min(20, world.resource.pageSize.maximum);
  const page = oddPage(Math.min(last, lastPage({ total: asked.total, pageSize })));
  readNeighbours(world, { ...asked, page, pageSize, include: Object.fromEntries(include.map((name) => [name, true])) });
}

/** A random whole number from 0 up to but not including `count`. */
export function random(count: number): number {
  return Math.floor(count * Math.random());
}

/** One of a list; undefined of an empty one. */
export function oneOf<T>(values: readonly T[]): T | undefined {
  return values[random(values.length)];
}

/** A random odd page of `pages`, so that the next one makes a page of double size with it. */
export function oddPage(pages: number): number {
  return 1 + 2 * random(Math.max(1, Math.ceil(pages / 2)));
}
