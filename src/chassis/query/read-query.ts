import type { z } from 'zod';
import type { CursorCodec } from './cursor.ts';
import { KeysetPage } from './keyset.ts';
import { defaultPaging, type QueryInput, readPaging } from './paging.ts';
import { type ParseContext, parseContext } from './parse-context.ts';
import { checkRelated, parseInclude } from './parse-include.ts';
import { checkBounds, parseJson } from './parse-json.ts';
import { parseOrder, toOrder } from './parse-order.ts';
import { parseWhere } from './parse-where.ts';
import type { PolicyRules } from './policy-rules.ts';
import { badParameter, inParameter, show } from './query-refusal.ts';
import {
  type Filter,
  type FindQuery,
  type GetQuery,
  isToMany,
  type SearchQuery,
  type Selection,
} from './query-types.ts';
import { type SearchOptions, sanitizeSearchOptions } from './search-options.ts';
import type { OrderTerm } from './sort-rule.ts';

const getParameters = new Set(['include']);
const findParameters = new Set(['include', 'orderBy', 'where']);
const searchParameters = new Set(['page', 'pageSize', 'include', 'orderBy', 'where', 'cursor', 'count']);

type Open = (raw: unknown, limits: PolicyRules['limits']) => unknown;

interface Parts {
  where: Filter | undefined;
  terms: readonly OrderTerm[];
  select: Selection;
}

/** Reads the parameters of a request for one record. */
export function readGet(rules: PolicyRules, query: QueryInput): GetQuery {
  refuseUnknown(query, getParameters);
  return { model: rules.model, select: readSelect(rules, query.include, 1, parseJson) };
}

/** Reads the parameters of a find request. */
export function readFind(rules: PolicyRules, query: QueryInput): FindQuery {
  refuseUnknown(query, findParameters);
  const { findLimit, parents } = rules.limits;
  const { where, terms, select } = readParts(rules, query, Math.min(findLimit, parents), parseJson);
  const take = Object.values(select).some(isToMany) ? Math.min(findLimit, parents) : findLimit;
  return { model: rules.model, select, ...(where && { where }), orderBy: toOrder(terms), take };
}

/** Reads the parameters of a paginated request. */
export function readSearch(rules: PolicyRules, paging: z.ZodType, query: QueryInput, codec: CursorCodec): SearchQuery {
  refuseUnknown(query, searchParameters);
  const { page, pageSize, cursor, count } = query;
  const defaults = { page: defaultPaging.page, pageSize: Math.min(defaultPaging.pageSize, rules.limits.pageSize) };
  const window = readPaging({ page, pageSize }, paging, defaults);
  const parts = readParts(rules, query, window.pageSize, parseJson);
  const search = pageQuery(rules, parts, window, readCount(count));
  if (cursor === undefined) return search;
  if (page !== undefined)
    throw badParameter('page', [{ path: '', message: 'cannot stand beside cursor; leave one of them out' }]);
  if (typeof cursor !== 'string') throw badParameter('cursor', [{ path: '', message: 'expected one text' }]);
  return byCursor(search, parts, new KeysetPage({ codec, binding: bindingOf(rules, parts), ...parts }, cursor));
}

/** The query of a program's own options. */
export function readOptions(rules: PolicyRules, options: SearchOptions): SearchQuery {
  const window = sanitizeSearchOptions(options, rules.limits.pageSize);
  const parts = readParts(rules, options as QueryInput, window.pageSize, bounded);
  return pageQuery(rules, parts, window, 'exact');
}

function pageQuery(
  rules: PolicyRules,
  parts: Parts,
  window: { page: number; pageSize: number },
  count: SearchQuery['count'],
): SearchQuery {
  const { where, terms, select } = parts;
  const { page, pageSize } = window;
  return {
    model: rules.model,
    select,
    ...(where && { where, countWhere: where }),
    orderBy: toOrder(terms),
    take: pageSize,
    page,
    pageSize,
    skip: (page - 1) * pageSize,
    count,
  };
}

function byCursor(search: SearchQuery, { where }: Parts, cursor: KeysetPage): SearchQuery {
  const { after, page, select } = cursor;
  const filter = after && (where ? { AND: [where, after] } : after);
  return { ...search, ...(filter && { where: filter }), select, page, skip: 0, take: search.pageSize + 1, cursor };
}

function readParts(rules: PolicyRules, query: QueryInput, take: number, open: Open): Parts {
  return {
    where: readPart(rules, 'where', query.where, open, (value, context) => parseWhere(rules, value, context)),
    terms: readPart(rules, 'orderBy', query.orderBy, open, (value, context) => parseOrder(rules, value, context)) ?? [
      rules.idSort.asc,
    ],
    select: readSelect(rules, query.include, take, open),
  };
}

function readSelect(rules: PolicyRules, include: unknown, take: number, open: Open): Selection {
  const selection = readPart(rules, 'include', include, open, (value, context) => {
    const select = parseInclude(rules, value, context);
    checkRelated(context, take);
    return select;
  });
  return selection ?? rules.select;
}

function readPart<T>(
  rules: PolicyRules,
  name: string,
  raw: unknown,
  open: Open,
  parse: (value: unknown, context: ParseContext) => T,
): T | undefined {
  if (raw === undefined) return undefined;
  return inParameter(name, () => parse(open(raw, rules.limits), parseContext(rules.limits)));
}

function bounded(value: unknown, limits: PolicyRules['limits']): unknown {
  checkBounds(value, limits);
  return value;
}

function refuseUnknown(query: QueryInput, allowed: ReadonlySet<string>): void {
  for (const name of Object.keys(query)) {
    if (allowed.has(name)) continue;
    throw badParameter(name, [
      { path: '', message: `not a parameter of this request; expected ${[...allowed].join(', ')}` },
    ]);
  }
}

function readCount(count: unknown): SearchQuery['count'] {
  if (count === undefined || count === 'exact') return 'exact';
  if (count === 'none') return 'none';
  throw badParameter('count', [{ path: '', message: `expected exact or none, got ${show(count)}` }]);
}

function bindingOf(rules: PolicyRules, { terms, where }: Parts): string {
  return `${rules.model}\0${terms.map((term) => term.name).join()}\0${JSON.stringify(where ?? {}, writeBigInt)}`;
}

function writeBigInt(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value;
}
