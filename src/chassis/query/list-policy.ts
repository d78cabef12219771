import type { z } from 'zod';
import type { CursorCodec } from './cursor.ts';
import type { ListDefinition, RecordShape } from './list-definition.ts';
import type { ModelName } from './model-types.ts';
import type { QueryInput } from './paging.ts';
import { describePolicy, type PolicyDescription } from './policy-description.ts';
import { type LooseDefinition, PolicyRules } from './policy-rules.ts';
import { policySchemas } from './policy-schemas.ts';
import type { QuerySchemas } from './query-schemas.ts';
import type { FindQuery, GetQuery, SearchQuery, Selection } from './query-types.ts';
import { readFind, readGet, readOptions, readSearch } from './read-query.ts';
import type { SearchOptions } from './search-options.ts';

/**
 * What may be asked of the lists of one model, and what may leave (design: list policy). Everything that is not declared
 * is refused with the answer that a name gets which does not exist.
 */
export class ListPolicy<M extends string = string, S extends z.core.$ZodShape = z.core.$ZodShape> {
  readonly model: M;
  readonly record: z.ZodObject<S, z.core.$ZodObjectConfig>;
  /** Selects the fields of the record and nothing else. */
  readonly select: Selection;
  /** Strict schemas of the parameters, made of this policy (spec.md: QuerySchemas). */
  readonly schemas: QuerySchemas;
  /** The declaration as the parsers read it. */
  readonly rules: PolicyRules;

  constructor(model: M, definition: LooseDefinition & { readonly record: z.ZodObject<S, z.core.$ZodObjectConfig> }) {
    this.model = model;
    this.record = definition.record;
    this.rules = new PolicyRules(model, definition);
    this.select = this.rules.select;
    this.schemas = policySchemas(this.rules);
  }

  /** Reads the parameters of a request for one record: `include` only. BadRequestException for what is not allowed. */
  parseGet(query: QueryInput): GetQuery {
    return readGet(this.rules, query);
  }

  /** Reads the parameters of a find request: include, orderBy, where. BadRequestException for what is not allowed. */
  parseFind(query: QueryInput): FindQuery {
    return readFind(this.rules, query);
  }

  /**
   * Reads the parameters of a paginated request: those of a find request, and page and pageSize or cursor and pageSize,
   * and count. BadRequestException for what is not allowed.
   */
  parseSearch(query: QueryInput, cursors: CursorCodec): SearchQuery {
    return readSearch(this.rules, this.schemas.paginationSchema, query, cursors);
  }

  /**
   * The query of a program's own options: the page is clamped rather than refused, `where`, `orderBy` and `include` hold
   * to the policy like a request's. BadRequestException for what is not allowed.
   */
  parseSearchOptions(options: SearchOptions): SearchQuery {
    return readOptions(this.rules, options);
  }

  /** The names that may be used, for documents and tests. Looks up the policies that this one refers to. */
  describe(): PolicyDescription {
    return describePolicy(this.rules);
  }
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
export function listPolicy<const M extends ModelName, S extends RecordShape<M, S> & z.core.$ZodShape>(
  model: M,
  definition: ListDefinition<M, S>,
): ListPolicy<M, S> {
  return new ListPolicy(model, definition as unknown as LooseDefinition & typeof definition);
}
