import type { FieldKind } from './field-kind.ts';
import type { PolicyRules, RelationRule } from './policy-rules.ts';
import type { QueryLimits } from './query-limits.ts';

/** A relation that may be used, and the policy that it leads to. */
export interface RelationDescription {
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
    fields: [...rules.fields.keys()],
    filters: Object.fromEntries(filters),
    sorts: [...rules.sorts.keys()],
    includes: Object.fromEntries([...rules.includes].map(([name, rule]) => [name, describeRelation(rule)])),
    limits: rules.limits,
  };
}

function describeRelation({ target, many }: RelationRule): RelationDescription {
  return { model: target.model, many, describe: () => describePolicy(target) };
}
