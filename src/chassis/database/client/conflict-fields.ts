import type { DataModel } from '../models/data-model.ts';

/** What an adapter tells of a broken constraint. */
interface BrokenConstraint {
  readonly constraint?: { readonly index?: string; readonly fields?: readonly string[] };
  readonly table?: string;
}

/**
 * The columns of a broken constraint: SQLite names them; PostgreSQL names the constraint, which Prisma calls
 * `<table>_<columns>_key` or `..._fkey`. A guess where columns have underscores; see `declaredFields`.
 */
export function guessedFields({ constraint, table }: BrokenConstraint = {}): readonly string[] | undefined {
  const { fields, index } = constraint ?? {};
  if (fields) return fields;
  const columns = index && /^(.+?)_(.+)_f?key$/.exec(index);
  if (!columns) return undefined;
  const joined =
    table && index.startsWith(`${table}_`) ? index.slice(table.length + 1).replace(/_f?key$/, '') : columns[2];
  return joined?.split('_');
}

/** The fields of a broken constraint as the models declare them; undefined for one that they do not. */
export function declaredFields(
  dataModel: DataModel | undefined,
  { index, fields, model }: { index?: string; fields?: readonly string[]; model?: string },
): readonly string[] | undefined {
  if (index !== undefined) return dataModel?.constraints[index];
  const declared = Object.entries(dataModel?.models[model ?? '']?.fields ?? {});
  return fields?.map((column) => declared.find(([, field]) => field.column === column)?.[0] ?? column);
}

/**
 * The fields by which a write refers to other records, where they belong to one key alone: that is the broken one then,
 * which SQLite does not name.
 */
export function referringFields(
  dataModel: DataModel | undefined,
  model: string | undefined,
  args: unknown,
): readonly string[] | undefined {
  const { table, fields = {} } = dataModel?.models[model ?? ''] ?? {};
  const { data } = (args ?? {}) as { data?: Record<string, unknown> };
  if (!dataModel || !data || Array.isArray(data)) return undefined;
  const isForeignKey = (name: string) => name.startsWith(`${table}_`) && name.endsWith('_fkey');
  const isWritten = (key: string) => key in fields && data[key] !== undefined && data[key] !== null;
  const written = Object.entries(dataModel.constraints).filter(
    ([name, keys]) => isForeignKey(name) && keys.some(isWritten),
  );
  return written.length === 1 ? written[0]?.[1] : undefined;
}
