import type { QueryInput } from '../paging/paging.ts';
import type { PolicyRules } from '../policy/policy-rules.ts';
import type { Filter, SearchQuery, Selection } from '../query-types.ts';
import { checkRelated, parseInclude } from './parse-include.ts';
import { checkBounds, parseJson } from './parse-json.ts';
import { type OrderTerm, parseOrder } from './parse-order.ts';
import { parseWhere } from './parse-where.ts';
import { badParameter, inParameter, type ParseContext, parseContext, show } from './query-refusal.ts';

/** What a list query is made of, whatever page of it is read. */
export interface QueryParts {
  readonly where: Filter | undefined;
  readonly terms: readonly OrderTerm[];
  readonly select: Selection;
}

/** How the parameters come: as JSON text from a request, or as values from a program. */
export type Source = 'request' | 'program';

/**
 * Reads `where`, `orderBy` and `include` under a policy.
 *
 * @param take records of the list, each of which may have related ones
 * @throws BadRequestException for what is not allowed
 */
export function readParts(rules: PolicyRules, query: QueryInput, take: number, source: Source): QueryParts {
  const where = readPart(rules, 'where', query.where, source, (value, context) => parseWhere(rules, value, context));
  const terms = readPart(rules, 'orderBy', query.orderBy, source, (value, context) =>
    parseOrder(rules, value, context),
  );
  return { where, terms: terms ?? [rules.idSort.asc], select: readSelect(rules, query.include, take, source) };
}

/** Reads `include` under a policy, see `readParts`; without one, the fields of the record. */
export function readSelect(rules: PolicyRules, include: unknown, take: number, source: Source): Selection {
  const selection = readPart(rules, 'include', include, source, (value, context) => {
    const select = parseInclude(rules, value, context);
    checkRelated(context, take);
    return select;
  });
  return selection ?? rules.select;
}

/** Whether a part of a selection is a relation to many: those are always bounded. */
export function isToMany(part: unknown): boolean {
  return typeof part === 'object' && part !== null && 'take' in part;
}

function readPart<T>(
  rules: PolicyRules,
  name: string,
  raw: unknown,
  source: Source,
  parse: (value: unknown, context: ParseContext) => T,
): T | undefined {
  if (raw === undefined) return undefined;
  const { limits } = rules;
  return inParameter(name, () => {
    if (source === 'request') return parse(parseJson(raw, limits), parseContext(limits));
    checkBounds(raw, limits);
    return parse(raw, parseContext(limits));
  });
}

/** Refuses parameters that a request does not take. */
export function refuseUnknown(query: QueryInput, allowed: ReadonlySet<string>): void {
  for (const name of Object.keys(query)) {
    if (allowed.has(name)) continue;
    throw badParameter(name, [
      { path: '', message: `not a parameter of this request; expected ${[...allowed].join(', ')}` },
    ]);
  }
}

/** Reads `count`, which is exact unless given. */
export function readCount(count: unknown): SearchQuery['count'] {
  if (count === undefined || count === 'exact') return 'exact';
  if (count === 'none') return 'none';
  throw badParameter('count', [{ path: '', message: `expected exact or none, got ${show(count)}` }]);
}
