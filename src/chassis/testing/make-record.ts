import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { prismaDirectory } from '../config/layout.ts';
import { namesIn } from '../database/models/constraints-of.ts';
import { delegateOf } from '../database/models/delegate-of.ts';
import { type DeclaredField, type DeclaredModels, readModels } from '../database/models/read-models.ts';

/** Of a field that holds a foreign key: its columns, and those that they refer to. */
const keys = /\bfields:\s*\[([^\]]*)\].*\breferences:\s*\[([^\]]*)\]/;

let declared: DeclaredModels | undefined;
let made = 0;

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
  made += 1;
  const data: Record<string, unknown> = { ...given };
  const required = fields.filter(
    ({ list, optional, attributes }) => !list && !optional && !/@default|@updatedAt/.test(attributes),
  );
  for (const { type, attributes } of required) {
    const [own, referred] = (keys.exec(attributes) ?? []).slice(1).map(namesIn);
    if (!own || !referred || own.every((column) => data[column] !== undefined)) continue;
    const other = new Map(Object.entries(await makeRecord(client, type, {}, models, [...above, name])));
    for (const [index, column] of own.entries()) data[column] ??= other.get(referred[index] ?? '');
  }
  for (const field of required) if (!models.models.has(field.type)) data[field.name] ??= sampleOf(field, models);
  return delegateOf(client, model).create({ data });
}

/** The models of the service, read once. */
function ownModels(): DeclaredModels {
  declared ??= readModels(readFileSync(join(prismaDirectory, 'models.prisma'), 'utf8'));
  return declared;
}

/** A value that no other record has, where the type has enough of them. */
function sampleOf({ name, type, attributes }: DeclaredField, { enums }: DeclaredModels): unknown {
  if (attributes.includes('@db.Uuid')) return randomUUID();
  const longest = Number(/@db\.(?:Var)?Char\((\d+)\)/.exec(attributes)?.[1] ?? 200);
  const values: Record<string, () => unknown> = {
    String: () => `${name} ${randomUUID()}`.slice(-longest),
    Boolean: () => false,
    DateTime: () => new Date(),
    BigInt: () => BigInt(made),
    Json: () => ({}),
    Bytes: () => Buffer.from(`${made}`),
  };
  return enums.get(type)?.[0]?.name ?? values[type]?.() ?? made;
}
