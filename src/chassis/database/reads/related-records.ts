import { isToMany } from '../../query/parse/parse-include.ts';
import type { Selection } from '../../query/query-types.ts';
import { type DataModel, fieldAt } from '../models/data-model.ts';
import { delegateOf } from '../models/delegate-of.ts';

/** How many records of a list have their related records read at the same time. */
const lanes = 8;

/** The ORM's description of a model. It is no public API, so it is read in this file alone. */
interface ModelFields {
  fields: readonly { name: string; kind: string; type: string; relationName?: string }[];
}

/** A selection taken apart: what one query reads of all records, and the relations that each record reads for itself. */
export interface SplitSelection {
  /** With `id`, by which the related records are found. */
  readonly own: Selection;
  readonly many: Record<string, { where?: object; select: object }>;
  /** Whether `id` was not asked for, so that it does not leave. */
  readonly hidesId: boolean;
}

/**
 * Takes the relations to many out of a selection; undefined when it has none. The ORM would read all related records and
 * cut them to `take` afterwards; asked for those of one record, the database cuts.
 */
export function splitSelection(select: Selection | undefined): SplitSelection | undefined {
  const parts = Object.entries(select ?? {});
  if (!parts.some(([, part]) => isToMany(part))) return undefined;
  const own = Object.fromEntries(parts.filter(([, part]) => !isToMany(part)));
  const many = Object.fromEntries(parts.filter(([, part]) => isToMany(part))) as SplitSelection['many'];
  return { own: { ...own, id: true }, many, hidesId: own.id !== true };
}

/**
 * Reads the related records of each of `records`, a few at a time, and completes the records in their order.
 *
 * @param client the ORM client, or inside a transaction the transaction's
 * @param model name of the records' model, e.g. `Category`
 * @param dataModel the models of the client
 */
export async function withRelated(
  client: object,
  model: string,
  records: readonly object[],
  { many, hidesId }: SplitSelection,
  dataModel: DataModel,
): Promise<object[]> {
  const relations = Object.entries(many).map(([name, part]) => relationReader(client, model, name, part, dataModel));
  const completed: object[] = new Array(records.length);
  let next = 0;
  async function lane(): Promise<void> {
    for (let index = next++; index < records.length; index = next++) {
      const { id, ...fields } = records[index] as { id: unknown };
      const related = Object.fromEntries(await Promise.all(relations.map((read) => read(id))));
      completed[index] = { ...(!hidesId && { id }), ...fields, ...related };
    }
  }
  await Promise.all(Array.from({ length: Math.min(lanes, records.length) }, lane));
  return completed;
}

/** Reads one relation of a record by way of the relation back to it. */
function relationReader(
  client: object,
  model: string,
  name: string,
  { where, ...part }: SplitSelection['many'][string],
  dataModel: DataModel,
) {
  const { models } = (client as { _runtimeDataModel: { models: Record<string, ModelFields> } })._runtimeDataModel;
  const there = models[model]?.fields.find((field) => field.name === name);
  const isBack = (field: ModelFields['fields'][number]) =>
    field.relationName === there?.relationName && !(there?.type === model && field.name === name);
  const back = models[there?.type ?? '']?.fields.find(isBack);
  if (!there || !back) throw new Error(`Expected a relation ${name} of ${model} with a way back, found none.`);
  const related = delegateOf(client, there.type);
  // Of many on the other side too, this record is one.
  const isMany = fieldAt(dataModel, there.type, [back.name])?.list === true;
  return async (id: unknown) => {
    const own = { [back.name]: isMany ? { some: { id } } : { id } };
    return [name, await related.findMany({ ...part, where: where ? { AND: [where, own] } : own })] as const;
  };
}
