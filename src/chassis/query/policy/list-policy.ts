import type { z } from 'zod';
import { findService } from '../../context/current-service.ts';
import type { CursorCodec } from '../paging/cursor.ts';
import { KeysetPage, type QueryParts } from '../paging/keyset.ts';
import { defaultPaging, type QueryInput, readPaging } from '../paging/paging.ts';
import {
  badParameter,
  checkBounds,
  inParameter,
  type ParseContext,
  parseContext,
  parseJson,
  readCount,
  refuseUnknown,
} from '../parse/parameter.ts';
import { checkRelated, isToMany, parseInclude } from '../parse/parse-include.ts';
import { parseOrder, parseSearchBox, parseWhere, toOrder } from '../parse/parse-search.ts';
import { queryCost, recordCost, recordsOf } from '../query-cost.ts';
import type { FindQuery, GetQuery, SearchQuery, Selection } from '../query-types.ts';
import { type QuerySchemas, type SearchOptions, sanitizeSearchOptions } from '../search-options.ts';
import { type Completion, planRead } from './completion.ts';
import type { ComputedFields, ListDefinition } from './list-definition.ts';
import type { ModelName } from './model-types.ts';
import { describePolicy, type PolicyDescription, policySchemas } from './policy-description.ts';
import { PolicyReference } from './policy-reference.ts';
import { type FollowRelation, type LooseDefinition, PolicyRules, type RelationTarget } from './policy-rules.ts';
import { roleVariants } from './role-variants.ts';

type Definition<S extends z.core.$ZodShape> = LooseDefinition & {
  readonly record: z.ZodObject<S, z.core.$ZodObjectConfig>;
};

/**
 * What may be asked of the lists of one model, and what may leave. Everything that is not declared
 * is refused with the answer that a name gets which does not exist.
 */
export class ListPolicy<M extends string = string, S extends z.core.$ZodShape = z.core.$ZodShape> {
  readonly model: M;
  readonly record: z.ZodObject<S, z.core.$ZodObjectConfig>;
  /** Selects the columns that the fields of the record need, and nothing else; `complete` makes the record of them. */
  readonly select: Selection;
  /** Strict schemas of the parameters, made of this policy (spec.md: QuerySchemas). */
  readonly schemas: QuerySchemas;
  /** The declaration by itself, which says all but where references to other modules lead. */
  readonly declared: PolicyRules;
  /** What callers with a role see in place of it, by `only` of the definition; the larger combinations of roles first. */
  variants: readonly { readonly roles: readonly string[]; readonly policy: ListPolicy<M> }[] = [];
  readonly #definition: Definition<S>;
  readonly #resolved: PolicyRules | undefined;
  /** Completes records that were read by `select`; undefined where no field is computed. */
  readonly completion: Completion | undefined;

  /** @param follow leads its relations; without it, they are led by the service of each caller */
  constructor(model: M, definition: Definition<S>, follow?: FollowRelation) {
    this.model = model;
    this.record = definition.record;
    this.#definition = definition;
    this.#resolved = follow && new PolicyRules(model, definition, follow);
    this.declared = this.#resolved ?? new PolicyRules(model, definition, followAlone);
    const { select, completion } = planned(this.declared, this.declared.select);
    this.select = select;
    this.completion = completion;
    this.schemas = policySchemas(this);
  }

  /**
   * The declaration as the parsers read it. Of a policy that a module declares they are those of the current service, which
   * are looked up each time; `resolvedBy` gives one that need not.
   */
  get rules(): PolicyRules {
    return this.#resolved ?? findService()?.policies.of(this).rules ?? this.declared;
  }

  /** This policy with relations that `follow` leads. */
  resolvedBy(follow: FollowRelation): ListPolicy<M, S> {
    return new ListPolicy(this.model, this.#definition, follow);
  }

  /** This policy, or the one that shows a caller with these roles more. */
  seenBy(roles: ReadonlySet<string> | undefined): ListPolicy<M> {
    return this.variants.find((variant) => variant.roles.every((role) => roles?.has(role)))?.policy ?? this;
  }

  /** Reads the parameters of a request for one record: `include` only. @throws BadRequestException when it asks for what is not allowed */
  parseGet(query: QueryInput): GetQuery {
    refuseUnknown(query, 'get');
    const { rules } = this;
    const select = readSelect(rules, query.include, 1, 'request');
    const cost = recordCost(rules, select);
    return { model: this.model, ...planned(rules, select), cost, records: recordsOf(select, 1) };
  }

  /**
   * Puts the computed fields into records that were read by `select`, for an answer that no controller makes.
   *
   * @example sendData(response, 200, await orderList.complete(await this.service.latest(orderList.select)))
   */
  async complete(record: object): Promise<object> {
    return (await this.completion?.of([record]))?.[0] ?? record;
  }

  /** Reads the parameters of a find request: include, orderBy, where. @throws BadRequestException when they ask for what is not allowed */
  parseFind(query: QueryInput): FindQuery {
    const { rules } = this;
    refuseUnknown(query, 'find', rules.search.length > 0);
    const { findLimit, parents } = rules.limits;
    const parts = readParts(rules, query, Math.min(findLimit, parents), 'request');
    const { where, terms, select } = parts;
    const take = Object.values(select).some(isToMany) ? Math.min(findLimit, parents) : findLimit;
    const { cost } = queryCost(rules, { ...parts, take, skip: 0, counts: false });
    return {
      model: this.model,
      ...planned(rules, select),
      ...(where && { where }),
      orderBy: toOrder(terms),
      take,
      cost,
      records: recordsOf(select, take),
    };
  }

  /**
   * Reads the parameters of a paginated request: those of a find request, and page and pageSize or cursor and pageSize,
   * and count.
   *
   * @throws BadRequestException when they ask for what is not allowed
   */
  parseSearch(query: QueryInput, cursors: CursorCodec): SearchQuery {
    const { rules } = this;
    refuseUnknown(query, 'search', rules.search.length > 0);
    const { page, pageSize, cursor } = query;
    const defaults = {
      page: defaultPaging.page,
      pageSize: Math.min(defaultPaging.pageSize, rules.limits.pageSize),
    };
    const window = readPaging({ page, pageSize }, this.schemas.paginationSchema, defaults);
    const parts = readParts(rules, query, window.pageSize, 'request');
    const search = this.#page(rules, parts, window, readCount(query.count));
    if (cursor === undefined) return search;
    if (page !== undefined)
      throw badParameter('page', [{ path: '', message: 'cannot stand beside cursor; leave one of them out' }]);
    if (typeof cursor !== 'string') throw badParameter('cursor', [{ path: '', message: 'expected one text' }]);
    const { select } = search;
    return fromCursor(search, new KeysetPage(this.model, { ...parts, select }, cursors, cursor));
  }

  /**
   * The query of a program's own options: the page is clamped rather than refused, `where`, `orderBy` and `include` hold
   * to the policy like a request's.
   *
   * @throws BadRequestException when they ask for what is not allowed
   */
  parseSearchOptions(options: SearchOptions): SearchQuery {
    const { rules } = this;
    const window = sanitizeSearchOptions(options, rules.limits.pageSize);
    const parts = readParts(rules, options as QueryInput, window.pageSize, 'program');
    return this.#page(rules, parts, window, 'exact');
  }

  #page(
    rules: PolicyRules,
    parts: QueryParts,
    window: { page: number; pageSize: number },
    count: SearchQuery['count'],
  ): SearchQuery {
    const { where, terms, select } = parts;
    const { page, pageSize } = window;
    const skip = (page - 1) * pageSize;
    return {
      model: this.model,
      ...planned(rules, select),
      ...(where && { where, countWhere: where }),
      orderBy: toOrder(terms),
      take: pageSize,
      page,
      pageSize,
      skip,
      count,
      ...queryCost(rules, { ...parts, take: pageSize, skip, counts: count === 'exact' }),
      records: recordsOf(select, pageSize),
    };
  }

  /** The names that may be used, for documents and tests. Looks up the policies that this one refers to. */
  describe(): PolicyDescription {
    return describePolicy(this.rules);
  }
}

/** Leads relations without a service: to the policies of the same module, and to none of another one. */
function followAlone(target: RelationTarget): unknown {
  const policy = target instanceof PolicyReference ? undefined : target();
  return policy instanceof ListPolicy ? policy.declared : policy;
}

function fromCursor(search: SearchQuery, cursor: KeysetPage): SearchQuery {
  const { after, page, select } = cursor;
  const filter = after && (search.where ? { AND: [search.where, after] } : after);
  return { ...search, ...(filter && { where: filter }), select, page, skip: 0, take: search.pageSize + 1, cursor };
}

/** Any list policy, for code that serves all models. */
// biome-ignore lint/suspicious/noExplicitAny: a record of any shape
export type AnyListPolicy = ListPolicy<string, any>;

/**
 * Declares what may be asked of the lists of a model. Fields, relations, operators and sort keys that the model or the
 * record does not have are type errors; parts that are left out allow nothing.
 *
 * @throws Error when the definition cannot work; what depends on other policies is checked at first use
 */
export function listPolicy<
  const M extends ModelName,
  S extends z.core.$ZodShape,
  C extends ComputedFields<M> = Record<never, never>,
>(model: M, definition: ListDefinition<M, S, C>): ListPolicy<M, S> {
  const { everybody, variants } = roleVariants(model, definition as unknown as LooseDefinition);
  const policy = new ListPolicy<M, S>(model, everybody as Definition<S>);
  policy.variants = variants.map((variant) => ({
    roles: variant.roles,
    policy: new ListPolicy<M>(model, variant.definition as Definition<z.core.$ZodShape>),
  }));
  return policy;
}

/** How the parameters come: as JSON text from a request, or as values from a program. */
type Source = 'request' | 'program';

/**
 * Reads `where`, `orderBy` and `include` under a policy.
 *
 * @param take records of the list, each of which may have related ones
 * @throws BadRequestException for what is not allowed
 */
function readParts(rules: PolicyRules, query: QueryInput, take: number, source: Source): QueryParts {
  const asked = readPart(rules, 'where', query.where, source, (value, context) => parseWhere(rules, value, context));
  const searched = query.q === undefined ? undefined : parseSearchBox(rules, query.q);
  const where = asked && searched ? { AND: [asked, searched] } : (asked ?? searched);
  const terms = readPart(rules, 'orderBy', query.orderBy, source, (value, context) =>
    parseOrder(rules, value, context),
  );
  return { where, terms: terms ?? [rules.idSort.asc], select: readSelect(rules, query.include, take, source) };
}

/** Reads `include` under a policy, see `readParts`; without one, the fields of the record. */
function readSelect(rules: PolicyRules, include: unknown, take: number, source: Source): Selection {
  const selection = readPart(rules, 'include', include, source, (value, context) => {
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

/** What is read for a selection; most have no computed field, and cost nothing then. */
function planned(rules: PolicyRules, select: Selection): ReturnType<typeof planRead> {
  return rules.computed.size === 0 && select === rules.select ? { select } : planRead(rules, select);
}
