import { readModels } from '../../database/models/read-models.ts';
import { nearMisses } from '../../errors/near-misses.ts';
import { UsageError } from '../terminal.ts';
import type { Field } from './fields.ts';
import type { ModuleNames } from './names.ts';

/**
 * The models with the model of a new module, and the way back of each of its relations in the other model.
 *
 * @throws UsageError where the model is there already, or one that it refers to is not
 */
export function withModel(models: string, names: ModuleNames, fields: readonly Field[]): string {
  const known = [...readModels(models).models.keys()];
  if (known.includes(names.pascal))
    throw new UsageError(`Expected a new model, found ${names.pascal} in prisma/models.prisma.`);
  let changed = models.trimEnd();
  for (const { relation } of fields) {
    if (!relation) continue;
    if (!known.includes(relation.model)) throw new UsageError(unknownModel(relation.model, known));
    changed = withField(changed, relation.model, wayBack(relation, names, fields));
  }
  return `${changed}\n\n${modelOf(names, fields)}`;
}

function unknownModel(model: string, known: readonly string[]): string {
  const near = nearMisses(model, known);
  const hint = near.length > 0 ? `Did you mean ${near.join(' or ')}? ` : '';
  return `Expected a model ${model} in prisma/models.prisma, found ${known.join(', ') || 'none'}. ${hint}Add it first: slipway module ${model.toLowerCase()} name:string.`;
}

function modelOf(names: ModuleNames, fields: readonly Field[]): string {
  const enums = fields.flatMap(({ model, enumValues }) =>
    enumValues ? [`enum ${model} {\n  ${enumValues.join('\n  ')}\n}\n\n`] : [],
  );
  const rows = fields.flatMap((field) => rowsOf(field, names, fields));
  const lines = [
    ['id', 'String', '@id @default(uuid(7)) @db.Uuid'],
    ...rows,
    ['createdAt', 'DateTime', '@default(now()) @db.Timestamptz(3)'],
    ['updatedAt', 'DateTime', '@updatedAt @db.Timestamptz(3)'],
  ];
  const width = [0, 1].map((column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const text = lines.map(([name = '', type = '', attributes = '']) =>
    `  ${name.padEnd(width[0] ?? 0)} ${type.padEnd(width[1] ?? 0)} ${attributes}`.trimEnd(),
  );
  const indexed = ['createdAt', ...fields.filter(({ sorted, relation }) => sorted || relation).map(({ name }) => name)];
  const indexes = indexed.map((name) => `  @@index([${name}, id])`);
  return `${enums.join('')}model ${names.pascal} {\n${text.join('\n')}\n\n${indexes.join('\n')}\n  @@map("${names.table}")\n}\n`;
}

function rowsOf(field: Field, names: ModuleNames, fields: readonly Field[]): string[][] {
  const mark = field.optional ? '?' : '';
  const attributes = [field.unique ? '@unique' : '', field.native ?? ''].filter(Boolean).join(' ');
  const column = [field.name, `${field.model}${mark}`, attributes];
  if (!field.relation) return [column];
  const { name, model } = field.relation;
  const label = relationLabel(field.relation, names, fields);
  const relation = `@relation(${label}fields: [${field.name}], references: [id])`;
  return [column, [name, `${model}${mark}`, relation]];
}

/** Several relations to one model need names. */
function relationLabel(
  { name, model }: NonNullable<Field['relation']>,
  names: ModuleNames,
  fields: readonly Field[],
): string {
  const same = fields.filter((field) => field.relation?.model === model);
  return same.length > 1 || model === names.pascal ? `"${names.camel}_${name}", ` : '';
}

function wayBack(relation: NonNullable<Field['relation']>, names: ModuleNames, fields: readonly Field[]): string {
  const label = relationLabel(relation, names, fields).replace(', ', '');
  const unique = fields.some((field) => field.relation === relation && field.unique);
  const plain = unique ? names.camel : names.camelPlural;
  const name = label === '' ? plain : `${plain}As${relation.name.charAt(0).toUpperCase()}${relation.name.slice(1)}`;
  return `  ${name} ${names.pascal}${unique ? '?' : '[]'}${label && ` @relation(${label})`}`;
}

/** Behind the last field of a model, before what stands there for all of it. */
function withField(models: string, model: string, line: string): string {
  const block = new RegExp(`^model\\s+${model}\\s*\\{[^}]*?(?=\\n\\s*(?:@@|\\}|\\n\\s*@@))`, 'm');
  const changed = models.replace(block, (text) => `${text}\n${line}`);
  if (changed === models)
    throw new Error(`Expected a block "model ${model} { … }" in prisma/models.prisma, found none that could be read.`);
  return changed;
}
