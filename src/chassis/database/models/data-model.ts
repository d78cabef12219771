import { constraintsOf, namesIn } from './constraints-of.ts';
import { indexesOf } from './indexes-of.ts';
import { mappedName, readModels } from './read-models.ts';

/** A field of a model, as queries need to know it. */
export interface DataField {
  /** Name of a scalar type, an enum or a model. */
  readonly type: string;
  readonly list: boolean;
  /** Its column; of a relation the field's own name. */
  readonly column: string;
  /** The type in PostgreSQL where the models name one, e.g. `Uuid` of `@db.Uuid`. */
  readonly native?: string;
  /** Of a relation: its name where it has one, and on the side that holds the foreign key its fields and what they refer to. */
  readonly relation?: {
    readonly name?: string;
    readonly fields?: readonly string[];
    readonly references?: readonly string[];
    /** Whether the record that it leads to may be missing. */
    readonly optional?: boolean;
  };
  /** The numbers that its column holds, where PostgreSQL takes fewer than the type tells. */
  readonly holds?: NumberBounds;
}

/** Digits before and behind the point of a Decimal, the limits of an integer, or any number that is neither NaN nor infinite. */
export type NumberBounds =
  | { readonly whole: number; readonly fraction: number }
  | { readonly least: number | bigint; readonly most: number | bigint }
  | 'finite';

/** A model as the database holds it. */
export interface ModelTable {
  readonly table: string;
  readonly fields: Readonly<Record<string, DataField>>;
  /** The fields of each index, in their order. */
  readonly indexes: readonly (readonly string[])[];
}

/** What the generated client does not tell of its models; `npm run generate` writes it beside the clients. */
export interface DataModel {
  readonly models: Readonly<Record<string, ModelTable>>;
  /** Values of each enum in declared order, and how the database calls each. */
  readonly enums: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Fields of each unique index, key and foreign key, by the name that it has in PostgreSQL. */
  readonly constraints: Readonly<Record<string, readonly string[]>>;
}

/** The data model of a file of models. */
export function dataModelOf(text: string): DataModel {
  const declared = readModels(text);
  const { models, tables, enums } = declared;
  const indexes = indexesOf(declared);
  const modelEntries = [...models].map(([name, fields]) => {
    const fieldEntries = fields.map(({ name: field, type, list, optional, attributes }) => {
      const column = mappedName(attributes) ?? field;
      const native = /@db\.(\w+)/.exec(attributes)?.[1];
      const relation = models.has(type) && relationOf(attributes, optional);
      const holds = boundsOf(attributes);
      return [
        field,
        { type, list, column, ...(native && { native }), ...(relation && { relation }), ...(holds && { holds }) },
      ] as const;
    });
    const table = { table: tables.get(name) ?? name, fields: Object.fromEntries(fieldEntries) };
    return [name, { ...table, indexes: indexes.get(name) ?? [] }] as const;
  });
  const enumEntries = [...enums].map(([name, values]) => {
    const stored = values.map((value) => [value.name, mappedName(value.attributes) ?? value.name] as const);
    return [name, Object.fromEntries(stored)] as const;
  });
  const constraints = Object.fromEntries(constraintsOf(declared));
  return { models: Object.fromEntries(modelEntries), enums: Object.fromEntries(enumEntries), constraints };
}

function relationOf(attributes: string, optional: boolean): NonNullable<DataField['relation']> {
  const declared = /@relation\((.*)\)/.exec(attributes)?.[1] ?? '';
  const name = /^\s*"([^"]*)"|\bname:\s*"([^"]*)"/.exec(declared);
  const fields = /\bfields:\s*\[([^\]]*)\]/.exec(declared)?.[1];
  const references = /\breferences:\s*\[([^\]]*)\]/.exec(declared)?.[1];
  return {
    ...(name && { name: name[1] ?? name[2] ?? '' }),
    ...(fields !== undefined && { fields: namesIn(fields) }),
    ...(references !== undefined && { references: namesIn(references) }),
    ...(optional && { optional }),
  };
}

function boundsOf(attributes: string): NumberBounds | undefined {
  if (/@db\.SmallInt\b/.test(attributes)) return { least: -32_768, most: 32_767 };
  const [, precision, scale = 0] = /@db\.Decimal\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)/.exec(attributes) ?? [];
  return precision === undefined ? undefined : { whole: Number(precision) - Number(scale), fraction: Number(scale) };
}

/** The field that a path of relations leads to from a model; undefined where there is none. */
export function fieldAt(dataModel: DataModel, model: string, path: readonly string[]): DataField | undefined {
  const [name = '', ...rest] = path;
  const field = dataModel.models[model]?.fields[name];
  return field && rest.length > 0 ? fieldAt(dataModel, field.type, rest) : field;
}

/** The values of the enum that a path leads to, in declared order; undefined where the field is no enum. */
export function enumValuesAt(dataModel: DataModel, model: string, path: readonly string[]): string[] | undefined {
  const values = dataModel.enums[fieldAt(dataModel, model, path)?.type ?? ''];
  return values && Object.keys(values);
}
