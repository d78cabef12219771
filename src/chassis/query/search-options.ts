import type { z } from 'zod';
import { defaultPaging } from './paging.ts';
import type { SortDirection } from './parse-order.ts';
import { defaultQueryLimits, maxSkip } from './query-limits.ts';
import type { defaultQuerySchemas, QuerySchemas } from './query-schemas.ts';

type Defaults = typeof defaultQuerySchemas;
type Output<Q extends Partial<QuerySchemas>, K extends keyof QuerySchemas> = z.output<
  Q[K] extends z.ZodType ? Q[K] : Defaults[K]
>;

/** What a find request asked for, each part in the type of its schema (spec.md: Query parameters, rule 1). */
export interface FindOptions<Q extends Partial<QuerySchemas> = Defaults> {
  include: Output<Q, 'includeSchema'>;
  orderBy: Output<Q, 'orderBySchema'>;
  where: Output<Q, 'whereSchema'>;
}

/** What a program or a request asks for (spec.md: SearchOptions). `page` is 1-based. */
export interface SearchOptions<Q extends Partial<QuerySchemas> = Defaults> extends Partial<FindOptions<Q>> {
  page?: number | undefined;
  pageSize?: number | undefined;
}

/**
 * Makes the options of a program safe to use: `page` and `pageSize` are clamped into 1 to what a database can skip, and
 * 1 to 100, with defaults 1 and 10; keys of `orderBy` that have no direction are dropped (spec.md: Limits).
 * Unlike a request, a program is never refused.
 */
export function sanitizeSearchOptions<T extends SearchOptions>(
  options: T,
  maxPageSize = defaultQueryLimits.pageSize,
): T & { page: number; pageSize: number } {
  const pageSize = clamp(options.pageSize, defaultPaging.pageSize, maxPageSize);
  const page = clamp(options.page, defaultPaging.page, Math.floor(maxSkip / pageSize));
  const { orderBy } = options;
  if (typeof orderBy !== 'object' || orderBy === null) return { ...options, page, pageSize };
  const directed = Object.entries(orderBy).filter(([, direction]) => isDirection(direction));
  return { ...options, page, pageSize, orderBy: Object.fromEntries(directed) };
}

function clamp(value: unknown, fallback: number, max: number): number {
  const number = typeof value === 'number' && !Number.isNaN(value) ? Math.floor(value) : fallback;
  return Math.min(Math.max(number, 1), max);
}

function isDirection(value: unknown): value is SortDirection {
  return value === 'asc' || value === 'desc';
}
