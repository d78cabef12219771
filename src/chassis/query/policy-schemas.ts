import { z } from 'zod';
import { paginationSchemaFor } from './paging.ts';
import { parseInclude } from './parse-include.ts';
import { checkBounds } from './parse-json.ts';
import { parseOrder } from './parse-order.ts';
import { parseWhere } from './parse-where.ts';
import type { PolicyRules } from './policy-rules.ts';
import { type ParseContext, parseContext, Refusal } from './query-refusal.ts';
import type { QuerySchemas } from './query-schemas.ts';

/**
 * The schemas of a policy. They accept and refuse what its parsers do, with values of `where` in the type of their field;
 * how many related records an include may ask for in all depends on the page, so only the parsers check that.
 */
export function policySchemas(rules: PolicyRules): QuerySchemas {
  return {
    whereSchema: schemaOf(rules, (value, context) => parseWhere(rules, value, context)),
    orderBySchema: schemaOf(rules, (value, context) => {
      parseOrder(rules, value, context);
      return value;
    }),
    includeSchema: schemaOf(rules, (value, context) => {
      parseInclude(rules, value, context);
      return value;
    }),
    paginationSchema: paginationSchemaFor(rules.limits),
  };
}

function schemaOf(rules: PolicyRules, parse: (value: unknown, context: ParseContext) => unknown): z.ZodType {
  const schema = z.unknown().transform((value, context) => {
    try {
      checkBounds(value, rules.limits);
      return parse(value, parseContext(rules.limits));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      context.addIssue({ code: 'custom', message: error.message, path: error.path });
      return z.NEVER;
    }
  });
  return schema.optional();
}
