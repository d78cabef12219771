import type { LooseDefinition } from './policy-rules.ts';

/** What a list policy is for callers with certain roles. */
export interface RoleVariant {
  /** The roles that the caller has of those that the policy names. */
  readonly roles: readonly string[];
  readonly definition: LooseDefinition;
}

/** More than this many roles would make more variants than anybody reads. */
const mostRoles = 3;

/**
 * The definition for everybody, without the fields that `only` keeps for roles, and one for each combination of roles that
 * show more. A hidden field is nowhere in it: not in the record, its filters, orders and searches.
 *
 * @throws Error for a field that is not in the record, or too many roles
 */
export function roleVariants(model: string, { only = {}, ...whole }: LooseDefinition) {
  const roles = [...new Set(Object.values(only))].sort();
  const unknown = Object.keys(only).find((name) => !Object.hasOwn(whole.record.shape, name));
  if (unknown !== undefined || roles.length > mostRoles) {
    const found = unknown === undefined ? `${roles.length} roles` : unknown;
    throw new Error(
      `The list policy of ${model} cannot work: only: expected fields of the record and at most ${mostRoles} roles, found ${found}. Correct its listPolicy() definition.`,
    );
  }
  const visibleTo = (held: readonly string[]) =>
    without(whole, new Set(Object.keys(only).filter((name) => !held.includes(only[name] as string))));
  const variants: RoleVariant[] = combinations(roles).map((held) => ({ roles: held, definition: visibleTo(held) }));
  return { everybody: visibleTo([]), variants };
}

/** All combinations of at least one, the larger ones first. */
function combinations(roles: readonly string[]): string[][] {
  const all: string[][] = [[]];
  for (const role of roles) all.push(...all.map((some) => [...some, role]));
  return all.filter((some) => some.length > 0).sort((one, other) => other.length - one.length);
}

function without(definition: LooseDefinition, hidden: ReadonlySet<string>): LooseDefinition {
  if (hidden.size === 0) return definition;
  const { record, computed, filter, sort, search } = definition;
  const isVisible = (name: string) => !hidden.has(name);
  return {
    ...definition,
    // The compiler knows the names of no record here.
    record: record.omit(Object.fromEntries([...hidden].map((name) => [name, true])) as never),
    ...(computed && { computed: Object.fromEntries(Object.entries(computed).filter(([name]) => isVisible(name))) }),
    ...(filter && { filter: Object.fromEntries(Object.entries(filter).filter(([name]) => isVisible(name))) }),
    ...(sort && { sort: sort.filter(isVisible) }),
    ...(search && { search: search.filter(isVisible) }),
  };
}
