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

/** How Prisma tells of a record that it did not find. */
export interface NotFound {
  readonly code: string;
  /** What was looked for, e.g. `an update` or `a nested connect`, and how many records of a list were to be related. */
  readonly meta?: { readonly operation?: string; readonly expectedRows?: number };
}

/** Whether what is missing is a record to relate to. P2025 is said of the record that is written, too. */
export function isOfRelated({ code, meta: { operation = '', expectedRows } = {} }: NotFound): boolean {
  if (code === 'P2017' || code === 'P2018') return true;
  // `a nested create` looks for the written record.
  return code === 'P2025' && (expectedRows !== undefined || /^a nested (?!create)/.test(operation));
}

/** The relation that a write goes through, where it is one alone; the error does not name its field. */
export function relationFields(
  dataModel: DataModel | undefined,
  model: string | undefined,
  args: unknown,
): readonly string[] | undefined {
  const { fields = {} } = dataModel?.models[model ?? ''] ?? {};
  const { data } = (args ?? {}) as { data?: Record<string, unknown> };
  const isRelation = (name: string) =>
    Object.hasOwn(fields, name) && (fields[name]?.type ?? '') in (dataModel?.models ?? {});
  const written = Object.keys(data ?? {}).filter((name) => isRelation(name) && data?.[name] !== undefined);
  return written.length === 1 ? written : undefined;
}
