import { readEnvironment } from '../config/environment.ts';
import { unscoped } from '../context/run-as.ts';
import { openDatabase } from '../database/client/orm.ts';
import { delegateOf } from '../database/models/delegate-of.ts';
import type { DeclaredModels } from '../database/models/read-models.ts';
import { ownModels } from './make-record.ts';
import { type DeclaredReference, referenceOf, requiredFields, sampleOf } from './sample-values.ts';

/** How many records one statement stores. */
const portion = 500;
/** So many records of another model are referred to, by turns, where more than one record may refer to each. */
const shared = 50;

type Row = Readonly<Record<string, unknown>>;

/**
 * Stores records in each model that has fewer, for load tests of a service without sample data of its own. They have what
 * their models require, in values that differ, and refer to each other.
 *
 * @param url as DATABASE_URL
 * @param count of the records that each model has then
 * @throws Error where models require records of each other
 */
export async function fillDatabase(url: string, count: number): Promise<void> {
  const { client, close } = await openDatabase(
    readEnvironment({}, { NODE_ENV: 'development', DATABASE_URL: url }, 'command'),
  );
  try {
    await unscoped('records for a load test', () => fillModels(client, count));
  } finally {
    await close();
  }
}

/** The same with an open client. */
export async function fillModels(client: object, count: number, models = ownModels()): Promise<void> {
  const stored = new Map<string, readonly Row[]>();
  for (const model of inOrder(models)) {
    const delegate = delegateOf(client, model);
    const present = await delegate.count({});
    for (let from = present; from < count; from += portion) {
      const numbers = Array.from({ length: Math.min(portion, count - from) }, (_, index) => from + index);
      await delegate.createMany({ data: numbers.map((number) => rowOf(model, number, models, stored)) });
    }
    const referred = columnsReferredTo(model, models);
    if (referred.length === 0) continue;
    const select = Object.fromEntries(referred.map((column) => [column, true]));
    stored.set(model, (await delegate.findMany({ select, take: count })) as Row[]);
  }
}

function rowOf(
  model: string,
  number: number,
  models: DeclaredModels,
  stored: ReadonlyMap<string, readonly Row[]>,
): Record<string, unknown> {
  const fields = models.models.get(model) ?? [];
  const row: Record<string, unknown> = {};
  for (const reference of fields.flatMap((field) => referenceOf(field) ?? [])) {
    // One that may be left out, to a model that comes later or is its own, is.
    const others = stored.get(reference.model) ?? [];
    const other =
      others[number % (isUnique(model, reference, models) ? others.length : Math.min(shared, others.length))];
    for (const [index, column] of reference.own.entries()) row[column] ??= other?.[reference.referred[index] ?? ''];
  }
  for (const field of requiredFields(fields)) {
    if (!models.models.has(field.type)) row[field.name] ??= sampleOf(field, models, number);
  }
  return row;
}

/** Whether two records of a model may not refer to the same, or only if they differ otherwise. */
function isUnique(model: string, { own }: DeclaredReference, { models, blocks }: DeclaredModels): boolean {
  const single = (models.get(model) ?? []).some(
    ({ name, attributes }) => own.includes(name) && /@(id|unique)\b/.test(attributes),
  );
  const together = (blocks.get(model) ?? []).filter((line) => /^@@(id|unique)\b/.test(line));
  return single || together.some((line) => own.some((column) => new RegExp(`\\b${column}\\b`).test(line)));
}

function columnsReferredTo(model: string, { models }: DeclaredModels): string[] {
  const references = [...models.values()].flat().flatMap((field) => referenceOf(field) ?? []);
  return [...new Set(references.filter((one) => one.model === model).flatMap(({ referred }) => referred))];
}

/** Every model behind those that its records have to refer to. */
function inOrder({ models }: DeclaredModels): string[] {
  const ordered: string[] = [];
  const add = (model: string, above: readonly string[]) => {
    if (ordered.includes(model)) return;
    if (above.includes(model)) {
      throw new Error(
        `Expected models whose records can be stored one after the other, found ${above.join(', ')}, which need each other; write prisma/seed.ts.`,
      );
    }
    const required = requiredFields(models.get(model) ?? []).flatMap((field) => referenceOf(field)?.model ?? []);
    for (const other of required) add(other, [...above, model]);
    ordered.push(model);
  };
  for (const model of models.keys()) add(model, []);
  return ordered;
}
