import type { IsJson, ModelName, Scalars } from '../../query/policy/model-types.ts';

/** The ORM client of this service, typed by what `npm run generate` declared in `Slipway.Orm`. */
export type OrmClient = Slipway.Orm extends { client: infer Client extends object } ? Client : UntypedClient;

// biome-ignore lint/suspicious/noExplicitAny: without a generated client every model is allowed
type UntypedClient = Record<string, any>;

/** Name of a model's accessor on the client, e.g. `'product'`. */
export type DelegateName = Uncapitalize<ModelName>;

/** The model behind an accessor, e.g. `'Product'` of `'product'`. */
export type ModelOf<D extends DelegateName> = Extract<ModelName, Capitalize<D>>;

/** A stored record: its scalar fields. Relations and a `select` change what a read really gives. */
export type RecordOf<D extends DelegateName> = Scalars<ModelOf<D>>;

/** The type of a model's identifier: string, number or bigint. */
export type IdOf<D extends DelegateName> = RecordOf<D> extends { id: infer Id } ? Id : never;

type Operations<D extends DelegateName> = Slipway.Orm extends { models: infer Models }
  ? ModelOf<D> extends keyof Models
    ? Models[ModelOf<D>] extends { operations: infer All }
      ? All
      : never
    : never
  : never;

type CreateManyData<D extends DelegateName> =
  Operations<D> extends { createMany: { args: infer Args } }
    ? Args extends { data: infer Data }
      ? Exclude<Data, readonly unknown[]>
      : never
    : Record<string, unknown>;

/** A Json column takes what the schema of a body lets in. */
type WritableData<D extends DelegateName> = {
  [K in keyof CreateManyData<D>]: IsJson<RecordOf<D>[K & keyof RecordOf<D>]> extends true
    ? unknown
    : CreateManyData<D>[K];
};

/** Optional properties may also be given as undefined, as zod's optional fields are. */
type UndefinedAllowed<T> = { [K in keyof T]: T extends Record<K, T[K]> ? T[K] : T[K] | undefined };

/** The scope of a model with this column fills it in, so that a service need not. */
type FilledByScope = 'tenantId';

/** The fields that a create takes: those without a default are required, but for the tenant, which the scope fills in. */
export type CreateInput<D extends DelegateName> = FilledByScope extends keyof WritableData<D>
  ? UndefinedAllowed<Omit<WritableData<D>, FilledByScope> & Partial<Pick<WritableData<D>, FilledByScope>>>
  : UndefinedAllowed<WritableData<D>>;

/** The fields that an update takes: any of them; undefined leaves a field as it is. */
export type UpdateInput<D extends DelegateName> = { [K in keyof WritableData<D>]?: WritableData<D>[K] | undefined };

/** A filter of a model in the ORM's own types. */
export type ScopeFilter<D extends DelegateName> =
  Operations<D> extends { findMany: { args: infer Args } }
    ? Args extends { where?: infer Where }
      ? NonNullable<Where>
      : never
    : Record<string, unknown>;

/** What a scope gives: a filter whose values may be undefined, and then it lets nobody through. */
export type ScopeOf<D extends DelegateName> = WithGaps<ScopeFilter<D>>;

type WithGaps<T> = T extends string | number | bigint | boolean | Date | null | undefined
  ? T
  : T extends readonly (infer Item)[]
    ? readonly WithGaps<Item>[]
    : { [K in keyof T]: WithGaps<T[K]> | undefined };

/** The name of a column of a model. */
export type ColumnOf<D extends DelegateName> = Extract<keyof RecordOf<D>, string>;
