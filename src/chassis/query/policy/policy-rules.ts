import type { z } from 'zod';
import { operatorsOf, takesMode } from '../operators.ts';
import { ComputedField } from './computed-field.ts';
import { type FieldRule, fieldRule } from './field-types.ts';
import { type PolicyThunk, ToMany } from './list-definition.ts';
import { PolicyReference } from './policy-reference.ts';
import { defaultQueryLimits, maxSkip, type QueryLimits } from './query-limits.ts';

/** What says where a relation leads. */
export type RelationTarget = PolicyThunk | PolicyReference;

/** Gives the rules of the policy that a relation leads to; anything else where it leads to none. */
export type FollowRelation = (target: RelationTarget) => unknown;

/** A definition without its compile-time checks. */
export interface LooseDefinition {
  readonly record: z.ZodObject;
  readonly computed?: Readonly<Record<string, ComputedField>>;
  readonly filter?: Readonly<Record<string, readonly string[] | RelationTarget | ToMany>>;
  readonly sort?: readonly string[];
  readonly search?: readonly string[];
  readonly only?: Readonly<Record<string, string>>;
  readonly include?: Readonly<Record<string, RelationTarget | ToMany>>;
  readonly limits?: Partial<QueryLimits>;
}

/** A direction of sorting (spec.md: SearchOptions, orderBy). */
export type SortDirection = 'asc' | 'desc';

/** A key that may sort, with both of its directions in the ORM's form. */
export interface SortRule {
  /** The field, after the relation that leads to it. */
  readonly path: readonly string[];
  readonly field: FieldRule;
  readonly asc: OrderTerm;
  readonly desc: OrderTerm;
}

/** One key of an order, in one direction. */
export interface OrderTerm {
  readonly path: readonly string[];
  readonly field: FieldRule;
  readonly direction: SortDirection;
  /** The ORM's form. Records without a value come last in both directions, on both databases. */
  readonly orm: Record<string, unknown>;
  /** Names the term in what a cursor is bound to. */
  readonly name: string;
}

/** A field that may be filtered. */
export interface FieldFilter {
  readonly field: FieldRule;
  readonly operators: ReadonlySet<string>;
  /** The operators, and `mode` where it may stand beside them. */
  readonly words: readonly string[];
}

/** A relation that may be filtered or included; `target` is looked up at first use. */
export interface RelationRule {
  readonly name: string;
  readonly many: boolean;
  /** Set where it leads to a resource of another module. */
  readonly reference: PolicyReference | undefined;
  readonly target: PolicyRules;
}

/** A list policy as the walks through the parameters read it: every lookup is a map, so that no name is special. */
export class PolicyRules {
  readonly model: string;
  readonly limits: Readonly<QueryLimits>;
  /** The fields of the record that are columns. */
  readonly fields: ReadonlyMap<string, FieldRule>;
  /** Those that are computed. */
  readonly computed: ReadonlyMap<string, ComputedField>;
  /** Selects every field of the record, computed ones among them. */
  readonly select: Readonly<Record<string, true>>;
  readonly filters: ReadonlyMap<string, FieldFilter | RelationRule>;
  readonly includes: ReadonlyMap<string, RelationRule>;
  /** How the primary key sorts, which ends every order. */
  readonly idSort: SortRule;
  readonly #follow: FollowRelation;
  readonly #searchKeys: readonly string[];
  readonly #sortKeys: readonly string[];

  constructor(model: string, definition: LooseDefinition, follow: FollowRelation) {
    this.model = model;
    this.#follow = follow;
    this.limits = Object.freeze(withLimits(model, definition.limits));
    const { shape } = definition.record;
    this.computed = new Map(Object.entries(definition.computed ?? {}));
    for (const [name, field] of this.computed) expectComputed(model, name, field, shape);
    const stored = Object.entries(shape).filter(([name]) => !this.computed.has(name));
    this.fields = new Map(stored.map(([name, type]) => [name, fieldRule(name, type)]));
    this.select = Object.freeze(Object.fromEntries(Object.keys(shape).map((name) => [name, true as const])));
    this.filters = new Map(
      Object.entries(definition.filter ?? {}).map(([name, rule]) => [name, this.#filter(name, rule)]),
    );
    this.includes = new Map(
      Object.entries(definition.include ?? {}).map(([name, rule]) => [name, relation(model, name, rule, follow)]),
    );
    this.idSort = sortRule(
      [],
      this.fields.get('id') ?? { name: 'id', kind: 'text', nullable: false, values: undefined },
    );
    this.#sortKeys = definition.sort ?? [];
    this.#searchKeys = definition.search ?? [];
    for (const key of this.#sortKeys) if (!key.includes('.')) this.#ownSort(key);
  }

  /** Every relation that may be filtered or included, once for each of both. */
  get relations(): RelationRule[] {
    const filtered = [...this.filters.values()].filter((rule) => 'many' in rule);
    return [...filtered, ...this.includes.values()];
  }

  /** Keys that may sort. Dotted ones need the other policies, so the map is made at first use, and is a plain value then. */
  get sorts(): ReadonlyMap<string, SortRule> {
    const sorts = this.#sortKeys.map(
      (key) => [key, key.includes('.') ? this.#relatedSort(key) : this.#ownSort(key)] as const,
    );
    return fixed(this, 'sorts', new Map(sorts));
  }

  /** The texts that a search box looks through, each by its path; like `sorts` a plain value after its first use. */
  get search(): readonly (readonly string[])[] {
    const { searches } = this.limits;
    if (this.#searchKeys.length > searches)
      throw broken(this.model, `search: expected at most ${searches} fields, which is limits.searches`);
    return fixed(
      this,
      'search',
      this.#searchKeys.map((key) => this.#searched(key)),
    );
  }

  #searched(key: string): string[] {
    const path = key.split('.');
    const [name = '', related] = path;
    const through = related === undefined ? undefined : (this.includes.get(name) ?? this.filters.get(name));
    const target = through && 'many' in through && !through.many ? through.target : undefined;
    const field = related === undefined ? this.fields.get(name) : target?.fields.get(related);
    if (field?.kind === 'text') return path;
    throw broken(
      this.model,
      `search: expected ${key} to be a text of the record, or of a relation to one in filter or include`,
    );
  }

  #filter(name: string, rule: readonly string[] | RelationTarget | ToMany): FieldFilter | RelationRule {
    if (!Array.isArray(rule)) return relation(this.model, name, rule as RelationTarget | ToMany, this.#follow);
    const field = this.#field(name, 'filter');
    const possible = operatorsOf(field.kind);
    const impossible = rule.find((operator) => !possible.includes(operator));
    if (impossible !== undefined) {
      const taken = possible.join(', ') || 'none';
      throw broken(this.model, `filter.${name}: a field of kind ${field.kind} takes ${taken}; got ${impossible}`);
    }
    const words = [
      ...rule,
      ...(takesMode(field.kind, rule) ? ['mode'] : []),
      ...(field.kind === 'json' ? ['path'] : []),
    ];
    return { field, operators: new Set(rule), words };
  }

  #ownSort(key: string): SortRule {
    const field = this.#field(key, 'sort');
    if (!hasOrder(field)) throw broken(this.model, `sort: ${key} has no order; expected text, a number or a date`);
    return sortRule([], field);
  }

  #relatedSort(key: string): SortRule {
    const [name, fieldName] = key.split('.') as [string, string];
    const rule = this.includes.get(name) ?? this.filters.get(name);
    if (!rule || !('many' in rule) || rule.many) {
      throw broken(this.model, `sort: ${key} needs the relation ${name}, to one record, in filter or include`);
    }
    const field = rule.target.fields.get(fieldName);
    if (field && hasOrder(field)) return sortRule([name], field);
    throw broken(this.model, `sort: ${key} is no sortable field of the record of ${rule.target.model}`);
  }

  #field(name: string, part: string): FieldRule {
    const field = this.fields.get(name);
    if (field) return field;
    throw broken(
      this.model,
      `${part}: ${name} is not in the record; expected one of ${[...this.fields.keys()].join(', ')}`,
    );
  }
}

function expectComputed(model: string, name: string, field: unknown, shape: object): void {
  const problem = Object.hasOwn(shape, name)
    ? 'expected from() or fromAll() with at least one column'
    : 'is not in the record';
  if (Object.hasOwn(shape, name) && field instanceof ComputedField && field.columns.length > 0) return;
  throw broken(model, `computed.${name}: ${problem}`);
}

function relation(model: string, name: string, rule: RelationTarget | ToMany, follow: FollowRelation): RelationRule {
  const leadsTo = rule instanceof ToMany ? rule.policy : rule;
  const reference = leadsTo instanceof PolicyReference ? leadsTo : undefined;
  return {
    name,
    many: rule instanceof ToMany,
    reference,
    get target() {
      return fixed(this, 'target', checkRules(follow(leadsTo), model, name, reference));
    },
  };
}

/** Puts a value in the place of the getter that computed it, so that no request computes or asks for it again. */
function fixed<T>(owner: object, name: string, value: T): T {
  Object.defineProperty(owner, name, { value, enumerable: true });
  return value;
}

function checkRules(found: unknown, model: string, name: string, reference: PolicyReference | undefined): PolicyRules {
  if (found instanceof PolicyRules) return found;
  if (reference) {
    const why = `${name} leads to ${reference}, which no module of the current service mounts`;
    throw broken(model, `${why}; use the policy in a service with module ${reference.module}`);
  }
  throw broken(model, `${name} leads to ${String(found)}; expected a function that returns a list policy`);
}

function withLimits(model: string, changed: Partial<QueryLimits> = {}): QueryLimits {
  const limits = { ...defaultQueryLimits, ...changed };
  for (const [name, limit] of Object.entries(limits)) {
    if (Number.isInteger(limit) && limit >= 0 && limit <= maxSkip) continue;
    throw broken(model, `limits.${name}: expected an integer from 0 to ${maxSkip}, got ${limit}`);
  }
  return limits;
}

/** The error of a policy that cannot work; it is the program's fault, never a client's. */
function broken(model: string, problem: string): Error {
  return new Error(`The list policy of ${model} cannot work: ${problem}. Correct its listPolicy() definition.`);
}

function hasOrder({ kind }: FieldRule): boolean {
  return kind !== 'json' && kind !== 'other';
}

/** Prepares a key for sorting; `relations` lead from the record to the field. */
function sortRule(relations: readonly string[], field: FieldRule): SortRule {
  const path = [...relations, field.name];
  return { path, field, asc: term(path, field, 'asc'), desc: term(path, field, 'desc') };
}

function term(path: readonly string[], field: FieldRule, direction: SortDirection): OrderTerm {
  const sort = field.nullable ? Object.freeze({ sort: direction, nulls: 'last' }) : direction;
  const orm = path.reduceRight<unknown>((inner, name) => Object.freeze({ [name]: inner }), sort);
  const name = `${path.join('.')}:${direction}:${field.kind}${field.nullable ? '?' : ''}`;
  return { path, field, direction, orm: orm as OrderTerm['orm'], name };
}
