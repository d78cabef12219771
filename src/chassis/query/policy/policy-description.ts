import { z } from 'zod';
import { paginationSchemaFor } from '../paging/paging.ts';
import { checkBounds, type ParseContext, parseContext, Refusal } from '../parse/parameter.ts';
import { parseInclude } from '../parse/parse-include.ts';
import { parseOrder, parseWhere } from '../parse/parse-search.ts';
import type { QuerySchemas } from '../search-options.ts';
import type { FieldKind } from './field-types.ts';
import type { PolicyRules, RelationRule } from './policy-rules.ts';
import type { QueryLimits } from './query-limits.ts';

/** A relation that may be used, and the policy that it leads to. */
interface RelationDescription {
  model: string;
  many: boolean;
  /** The policy's own names; a function, since policies may refer to each other. */
  describe(): PolicyDescription;
}

/** The names that a list policy allows. */
export interface PolicyDescription {
  model: string;
  /** Fields that leave, and that `select` may choose among. */
  fields: string[];
  filters: Record<string, { kind: FieldKind; nullable: boolean; operators: string[] } | RelationDescription>;
  sorts: string[];
  /** What the parameter `q` looks through; absent where there is none. */
  search?: string[];
  includes: Record<string, RelationDescription>;
  limits: Readonly<QueryLimits>;
}

/** Lists what a policy allows. */
export function describePolicy(rules: PolicyRules): PolicyDescription {
  const filters = [...rules.filters].map(([name, rule]) => {
    if ('many' in rule) return [name, describeRelation(rule)] as const;
    const { kind, nullable } = rule.field;
    return [name, { kind, nullable, operators: [...rule.operators] }] as const;
  });
  return {
    model: rules.model,
    fields: Object.keys(rules.select),
    filters: Object.fromEntries(filters),
    sorts: [...rules.sorts.keys()],
    ...(rules.search.length > 0 && { search: rules.search.map((path) => path.join('.')) }),
    includes: Object.fromEntries([...rules.includes].map(([name, rule]) => [name, describeRelation(rule)])),
    limits: rules.limits,
  };
}

function describeRelation({ target, many }: RelationRule): RelationDescription {
  return { model: target.model, many, describe: () => describePolicy(target) };
}

/**
 * The schemas of a policy. They accept and refuse what its parsers do, with values of `where` in the type of their field;
 * how many related records an include may ask for in all depends on the page, so only the parsers check that.
 */
export function policySchemas(policy: { readonly declared: PolicyRules; readonly rules: PolicyRules }): QuerySchemas {
  const { limits } = policy.declared;
  return {
    whereSchema: schemaOf(limits, (value, context) => parseWhere(policy.rules, value, context)),
    orderBySchema: schemaOf(limits, (value, context) => {
      parseOrder(policy.rules, value, context);
      return value;
    }),
    includeSchema: schemaOf(limits, (value, context) => {
      parseInclude(policy.rules, value, context);
      return value;
    }),
    paginationSchema: paginationSchemaFor(limits),
  };
}

function schemaOf(limits: QueryLimits, parse: (value: unknown, context: ParseContext) => unknown): z.ZodType {
  const schema = z.unknown().transform((value, context) => {
    try {
      checkBounds(value, limits);
      return parse(value, parseContext(limits));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      context.addIssue({ code: 'custom', message: error.message, path: error.path });
      return z.NEVER;
    }
  });
  return schema.optional();
}
