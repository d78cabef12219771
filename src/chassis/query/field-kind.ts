import type { z } from 'zod';

/** How values of a field are read from JSON and compared; `other` can be read but neither filtered nor sorted. */
export type FieldKind =
  | 'text'
  | 'uuid'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'date'
  | 'bigint'
  | 'decimal'
  | 'enum'
  | 'json'
  | 'other';

/** What a record's zod type says about a field. */
export interface FieldRule {
  readonly name: string;
  readonly kind: FieldKind;
  readonly nullable: boolean;
  /** The allowed values of an `enum`. */
  readonly values: ReadonlySet<unknown> | undefined;
}

/**
 * Reads kind and nullability off a zod type. Where it says a `format`, that counts, see `field-types.ts`; what holds other values than one is a Json column, and so is what says
 * `format: 'json'`.
 */
export function fieldRule(name: string, type: z.core.$ZodType): FieldRule {
  let inner = type as z.ZodType;
  let nullable = false;
  for (;;) {
    const format = inner.meta?.()?.format;
    const kind = kindsByFormat[String(format)];
    if (kind) return { name, kind, nullable, values: undefined };
    const { def } = inner as unknown as { def: { type: string; innerType?: z.ZodType; in?: z.ZodType } };
    nullable ||= def.type === 'nullable';
    const next = def.innerType ?? (def.type === 'pipe' ? def.in : undefined);
    if (!next) return { name, nullable, ...kindOf(inner) };
    inner = next;
  }
}

const kindsByFormat: Record<string, FieldKind> = {
  decimal: 'decimal',
  int64: 'bigint',
  'date-time': 'date',
  json: 'json',
};

function kindOf(type: z.ZodType): Pick<FieldRule, 'kind' | 'values'> {
  switch (type.def.type) {
    case 'string':
      return { kind: isUuid(type) ? 'uuid' : 'text', values: undefined };
    case 'number':
      return { kind: (type as z.ZodNumber).isInt ? 'integer' : 'number', values: undefined };
    case 'boolean':
    case 'date':
    case 'bigint':
      return { kind: type.def.type, values: undefined };
    case 'enum':
      return { kind: 'enum', values: new Set((type as z.ZodEnum).options) };
    case 'literal':
      return { kind: 'enum', values: (type as z.ZodLiteral).values };
    case 'object':
    case 'record':
    case 'array':
    case 'tuple':
    case 'lazy':
      return { kind: 'json', values: undefined };
    default:
      return { kind: 'other', values: undefined };
  }
}

function isUuid(type: z.ZodType): boolean {
  const { format } = type as z.ZodStringFormat;
  return format === 'uuid' || format === 'guid';
}
