/** Types derived from the generated ORM client (`Slipway.Orm`), so that a misspelt field or relation is a type error. */
type Models = Slipway.Orm extends { models: infer M } ? M : Record<string, UntypedModel>;

interface UntypedModel {
  // biome-ignore lint/suspicious/noExplicitAny: without a generated client every field is allowed
  payload: { name: string; scalars: Record<string, any>; objects: Record<string, any> };
}

/** Name of a model, e.g. `'Product'`. */
export type ModelName = keyof Models & string;

type Payload<M extends ModelName> = Models[M] extends { payload: infer P extends UntypedModel['payload'] } ? P : never;

/** The stored fields of a model and their types. */
export type Scalars<M extends ModelName> = Payload<M>['scalars'];

/** Name of a stored field of a model. */
export type FieldName<M extends ModelName> = keyof Scalars<M> & string;

/** Name of a relation of a model. */
export type RelationName<M extends ModelName> = keyof Payload<M>['objects'] & string;

type Related<M extends ModelName, R extends RelationName<M>> = Payload<M>['objects'][R];

/** The model that a relation leads to. */
export type RelatedModel<M extends ModelName, R extends RelationName<M>> =
  NonNullable<Related<M, R>> extends (infer One extends { name: ModelName })[]
    ? One['name']
    : NonNullable<Related<M, R>> extends { name: infer Name extends ModelName }
      ? Name
      : never;

/** Relations that lead to one record, not to many. */
export type ToOneRelation<M extends ModelName> = {
  [R in RelationName<M>]: NonNullable<Related<M, R>> extends unknown[] ? never : R;
}[RelationName<M>];

/** Relations to one record that may be missing. */
export type OptionalRelation<M extends ModelName> = {
  [R in RelationName<M>]: null extends Related<M, R> ? R : never;
}[RelationName<M>];

/** A decimal column; it reaches the client as a string. */
export interface DecimalLike {
  toDecimalPlaces(): unknown;
}

/** Whether a column is Json: no other holds texts, numbers and booleans alike. */
export type IsJson<Column> = 0 extends 1 & Column
  ? false
  : [string | number | boolean] extends [NonNullable<Column>]
    ? true
    : false;
