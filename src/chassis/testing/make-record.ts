import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { prismaDirectory } from '../config/layout.ts';
import { delegateOf } from '../database/models/delegate-of.ts';
import { type DeclaredModels, readModels } from '../database/models/read-models.ts';
import { referenceOf, requiredFields, sampleOf } from './sample-values.ts';

let declared: DeclaredModels | undefined;

/**
 * Stores a record with what is given; what its model requires beside that gets a value of its own, and the records that it
 * has to refer to are made too.
 *
 * @param client the ORM client
 * @param model its name or its accessor
 * @param models default: those of prisma/models.prisma
 * @throws Error where there is no such model, or models require records of each other
 */
export async function makeRecord(
  client: object,
  model: string,
  given: Readonly<Record<string, unknown>>,
  models = ownModels(),
  above: readonly string[] = [],
): Promise<object> {
  const name = model.charAt(0).toUpperCase() + model.slice(1);
  const fields = models.models.get(name);
  if (!fields) throw new Error(`Expected a model of ${[...models.models.keys()].join(', ')}, found ${name}.`);
  if (above.includes(name))
    throw new Error(`Expected a reference to a given ${name}; ${above.join(', ')} need each other.`);
  const data: Record<string, unknown> = { ...given };
  const required = requiredFields(fields);
  for (const field of required) {
    const reference = referenceOf(field);
    if (!reference || reference.own.every((column) => data[column] !== undefined)) continue;
    const other = new Map(Object.entries(await makeRecord(client, reference.model, {}, models, [...above, name])));
    for (const [index, column] of reference.own.entries()) data[column] ??= other.get(reference.referred[index] ?? '');
  }
  for (const field of required) if (!models.models.has(field.type)) data[field.name] ??= sampleOf(field, models);
  return delegateOf(client, model).create({ data });
}

/** The models of the service, read once. */
export function ownModels(): DeclaredModels {
  declared ??= readModels(readFileSync(join(prismaDirectory, 'models.prisma'), 'utf8'));
  return declared;
}
