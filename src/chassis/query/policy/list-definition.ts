import type { z } from 'zod';
import type { OperatorOfKind } from '../operators.ts';
import type { ComputedField } from './computed-field.ts';
import type {
  DecimalLike,
  FieldName,
  IsJson,
  ModelName,
  OptionalRelation,
  RelatedModel,
  RelationName,
  Scalars,
  ToOneRelation,
} from './model-types.ts';
import type { PolicyReference } from './policy-reference.ts';
import type { QueryLimits } from './query-limits.ts';

/**
 * A function that returns the list policy of the related model, so that policies can refer to each other. What it
 * returns is checked at first use.
 */
// biome-ignore lint/complexity/noBannedTypes: a type with a signature makes policies that refer to each other circular for the compiler
export type PolicyThunk = Function;

/** A relation to many records; `many` makes it. */
export class ToMany<Model extends string = string> {
  readonly policy: PolicyThunk | PolicyReference<Model>;

  constructor(policy: PolicyThunk | PolicyReference<Model>) {
    this.policy = policy;
  }
}

/**
 * Marks a relation that leads to many records: `include: { products: many(() => productList) }`, or
 * `many(policyOf('catalog', 'Product'))` for those of another module.
 */
// biome-ignore lint/suspicious/noExplicitAny: what a function returns is checked at first use
export function many(policy: PolicyThunk): ToMany<any>;
export function many<Model extends string>(policy: PolicyReference<Model>): ToMany<Model>;
export function many<Model extends string>(policy: PolicyThunk | PolicyReference<Model>): ToMany<Model> {
  return new ToMany(policy);
}

type OperatorOf<T> = [T] extends [boolean]
  ? OperatorOfKind<'boolean'>
  : [T] extends [number | bigint | Date]
    ? OperatorOfKind<'number'>
    : string extends T
      ? OperatorOfKind<'text'>
      : [T] extends [string]
        ? OperatorOfKind<'enum'>
        : never;

type Inner<Schema> = Schema extends z.ZodNullable<infer Type> | z.ZodOptional<infer Type> ? Inner<Type> : Schema;

type FieldOperator<Schema extends z.core.$ZodType, Column> =
  IsJson<Column> extends true
    ? OperatorOfKind<'json'>
    : [NonNullable<Column>] extends [DecimalLike]
      ? OperatorOfKind<'decimal'>
      : Inner<Schema> extends z.ZodUUID | z.ZodGUID
        ? OperatorOfKind<'uuid'>
        : OperatorOf<NonNullable<z.output<Schema>>>;

type ReadableField<M extends ModelName, S> = keyof S & FieldName<M>;

type Relations<M extends ModelName> = {
  readonly [R in RelationName<M>]?: R extends ToOneRelation<M>
    ? PolicyThunk | PolicyReference<RelatedModel<M, R>>
    : ToMany<RelatedModel<M, R>>;
};

type FieldFilters<M extends ModelName, S> = {
  readonly [K in ReadableField<M, S>]?: readonly FieldOperator<Extract<S[K], z.core.$ZodType>, Scalars<M>[K]>[];
};

type IsSortable<T> = [T] extends [string | number | bigint | Date | boolean | DecimalLike] ? true : false;

type OwnSortKey<M extends ModelName, S> = {
  [K in ReadableField<M, S>]: IsSortable<NonNullable<Scalars<M>[K]>> extends true ? K : never;
}[ReadableField<M, S>];

// The databases place missing records differently and can be told where only for nullable fields, so that over an
// optional relation only those sort.
type RelatedSortKey<M extends ModelName, R extends ToOneRelation<M>, Related extends ModelName> = {
  [K in FieldName<Related>]: IsSortable<NonNullable<Scalars<Related>[K]>> extends true
    ? R extends OptionalRelation<M>
      ? null extends Scalars<Related>[K]
        ? `${R}.${K}`
        : never
      : `${R}.${K}`
    : never;
}[FieldName<Related>];

/** A field of the record, or `<relation>.<field>` through a relation to one. */
export type SortKey<M extends ModelName, S> =
  | OwnSortKey<M, S>
  | { [R in ToOneRelation<M>]: RelatedSortKey<M, R, RelatedModel<M, R>> }[ToOneRelation<M>];

// What a Json column holds is for the record to say; null is one of its values, so it tells nothing of the column.
type FitsColumn<Output, Column> = IsJson<Column> extends true ? true : FitsPlainColumn<Output, Column>;

type FitsPlainColumn<Output, Column> = [Output] extends [
  Column | (NonNullable<Column> extends DecimalLike ? string : never),
]
  ? null extends Column
    ? null extends Output
      ? true
      : false
    : true
  : false;

type ColumnOf<Column> = [Column] extends [boolean]
  ? 'true or false'
  : [Column] extends [number]
    ? 'a number'
    : [Column] extends [bigint]
      ? 'a bigint: int64()'
      : [Column] extends [Date]
        ? 'a date: z.date() or dateTime()'
        : [Column] extends [DecimalLike]
          ? 'a decimal: decimal()'
          : string extends Column
            ? 'a text'
            : 'an enum with these values only';

type FieldProblem<M extends string, K extends string, Output, Column> =
  FitsColumn<Output, Column> extends true
    ? never
    : FitsColumn<Output | null, Column | null> extends true
      ? null extends Column
        ? `${K} of ${M} can be null: say .nullable()`
        : `${K} of ${M} is never null: leave .nullable() out`
      : `${K} of ${M} is ${ColumnOf<NonNullable<Column>>}`;

/** What is wrong with a record, in words that the compiler shows at the record; never where it fits. */
type RecordProblem<M extends ModelName, S, C> = {
  [K in keyof S & string]: K extends FieldName<M>
    ? FieldProblem<M, K, z.output<S[K]>, Scalars<M>[K]>
    : K extends keyof C
      ? never
      : `${K} is no field of ${M}`;
}[keyof S & string];

/** Computed fields by name, of any values. */
export type ComputedFields<M extends ModelName> = Readonly<Record<string, ComputedField<M, unknown>>>;

/** What is wrong with a computed field, in words that the compiler shows at the field; unknown where nothing is. */
type ComputedProblems<M extends ModelName, S, C> = {
  readonly [K in keyof C]: K extends FieldName<M>
    ? `${K} is a column of ${M}: a computed field needs another name`
    : K extends keyof S
      ? C[K] extends ComputedField<M, infer Value>
        ? [Value] extends [z.output<Extract<S[K], z.core.$ZodType>>]
          ? unknown
          : `${K & string} of the record has another type`
        : unknown
      : `${K & string} is not in the record`;
};

/** A type that nothing has but what has no problem. */
type Without<Problem> = [Problem] extends [never] ? unknown : Problem;

type TextField<M extends ModelName> = {
  [K in FieldName<M>]: [NonNullable<Scalars<M>[K]>] extends [string]
    ? string extends NonNullable<Scalars<M>[K]>
      ? K
      : never
    : never;
}[FieldName<M>];

/** A text of the record, or `<relation>.<field>` through a relation to one. */
type SearchKey<M extends ModelName, S> =
  | (keyof S & TextField<M>)
  | { [R in ToOneRelation<M>]: `${R}.${TextField<RelatedModel<M, R>>}` }[ToOneRelation<M>];

/** What a list policy is made of. A part that is left out allows nothing. */
export interface ListDefinition<M extends ModelName, S extends z.core.$ZodShape, C extends ComputedFields<M>> {
  /** The fields that may leave; its types say how filter values are read. */
  readonly record: z.ZodObject<S, z.core.$ZodObjectConfig> & Without<RecordProblem<M, S, C>>;
  /**
   * Fields of the record that are no columns, by `from` and `fromAll`. They are in every answer that has the record, and
   * nobody filters, sorts or searches by them.
   */
  readonly computed?: C & ComputedProblems<M, S, C>;
  /** Fields with the operators allowed on them, and relations with the policy that says what may be asked of them. */
  readonly filter?: FieldFilters<M, S> & Relations<M>;
  /** Keys of `orderBy`. A dotted key needs its relation in `filter` or `include`, whose policy must have the field. */
  readonly sort?: readonly SortKey<M, S>[];
  /**
   * Texts that the parameter `q` looks through, whatever the case of letters: `search: ['number', 'customer.name']`. Each
   * costs as a search does, so name few, and give PostgreSQL an index of trigrams on each. A dotted one needs its relation
   * as a dotted `sort` key does.
   */
  readonly search?: readonly SearchKey<M, S>[];
  /**
   * Fields that only callers with a role see: `only: { margin: 'admin' }`. For others they are neither in answers nor to be
   * selected, filtered, sorted or searched by; a relation from another list never shows them. At most three roles.
   */
  readonly only?: { readonly [K in keyof S & string]?: string };
  /** Relations that may be returned, each with its own policy. */
  readonly include?: Relations<M>;
  /** Bounds that differ from `defaultQueryLimits`. */
  readonly limits?: Partial<QueryLimits>;
}
