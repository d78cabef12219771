import type { DataField, DataModel } from './data-model.ts';

/** Raised for a field that the data model does not describe well enough. */
export class UnknownField extends Error {
  override readonly name: string = 'UnknownField';
}

/** How records of a model find those of one of its relations, in names of columns. */
export interface RelationLink {
  /** The model that it leads to. */
  readonly model: string;
  readonly many: boolean;
  /** Columns here, equal to those there; of many to many both are matched by the table between. */
  readonly here: readonly string[];
  readonly there: readonly string[];
  /** The table between, of many to many, and its columns for this side and the other. */
  readonly between?: { readonly table: string; readonly here: 'A' | 'B'; readonly there: 'A' | 'B' };
}

/** The link of a relation. @throws UnknownField for an ambiguous one, such as one of a model to itself */
export function relationLink(dataModel: DataModel, model: string, name: string): RelationLink {
  const field = fieldOf(dataModel, model, name);
  const target = field.type;
  const columns = (owner: string, names: readonly string[] = []) =>
    names.map((own) => fieldOf(dataModel, owner, own).column);
  const { fields, references } = field.relation ?? {};
  if (fields && references) {
    return { model: target, many: false, here: columns(model, fields), there: columns(target, references) };
  }
  const [back, ...others] = Object.values(dataModel.models[target]?.fields ?? {}).filter(
    (other) => other.type === model && other.relation?.name === field.relation?.name,
  );
  if (!back || others.length > 0 || target === model) throw new UnknownField(`relation ${model}.${name}`);
  if (back.relation?.fields) {
    const here = columns(model, back.relation.references);
    return { model: target, many: field.list, here, there: columns(target, back.relation.fields) };
  }
  const [first, second] = [model, target].sort();
  const table = `_${field.relation?.name ?? `${first}To${second}`}`;
  const between =
    first === model ? ({ table, here: 'A', there: 'B' } as const) : ({ table, here: 'B', there: 'A' } as const);
  return { model: target, many: true, here: columns(model, ['id']), there: columns(target, ['id']), between };
}

/** A declared field. @throws UnknownField where there is none */
export function fieldOf(dataModel: DataModel, model: string, name: string): DataField {
  const fields = dataModel.models[model]?.fields;
  if (fields && Object.hasOwn(fields, name)) return fields[name] as DataField;
  throw new UnknownField(`field ${model}.${name}`);
}
