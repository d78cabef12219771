/** What a type of a field means in each file that a module has. */
export interface ColumnType {
  /** Type of Prisma. */
  readonly model: string;
  /** Attributes of PostgreSQL. */
  readonly native?: string;
  /** The schema of zod, as code. */
  readonly schema: string;
  /** Imported from `slipway` for the schema. */
  readonly imports?: string;
  /** Operators of the list policy; none where the field is not filtered. */
  readonly filter: readonly string[];
  readonly sorted: boolean;
  /** A value as a test sends it, as code; `n` counts the records. */
  readonly sample: string;
  /** A value that a body may not have, as code; undefined where anything is taken. */
  readonly wrong?: string;
}

/** The types by the names that `slipway module` takes. */
export const columnTypes: Readonly<Record<string, ColumnType>> = {
  string: {
    model: 'String',
    schema: 'z.string().trim().min(1).max(200)',
    filter: ['equals', 'contains', 'in'],
    sorted: true,
    sample: '`text ${n}`',
    wrong: "''",
  },
  text: {
    model: 'String',
    schema: 'z.string().max(10_000)',
    filter: [],
    sorted: false,
    sample: '`text ${n}`',
    wrong: '1',
  },
  int: { model: 'Int', schema: 'z.int32()', filter: ['equals', 'gte', 'lte'], sorted: true, sample: 'n', wrong: '1.5' },
  bigint: {
    model: 'BigInt',
    schema: 'int64()',
    imports: 'int64',
    filter: ['equals', 'gte', 'lte'],
    sorted: true,
    sample: 'String(n)',
    wrong: "'many'",
  },
  decimal: {
    model: 'Decimal',
    native: '@db.Decimal(14, 4)',
    schema: 'decimal()',
    imports: 'decimal',
    filter: ['equals', 'gte', 'lte'],
    sorted: true,
    sample: '`${n}.5`',
    wrong: "'much'",
  },
  float: {
    model: 'Float',
    schema: 'z.number()',
    filter: ['gte', 'lte'],
    sorted: true,
    sample: 'n + 0.5',
    wrong: "'much'",
  },
  boolean: {
    model: 'Boolean',
    schema: 'z.boolean()',
    filter: ['equals'],
    sorted: false,
    sample: 'n % 2 === 0',
    wrong: "'yes'",
  },
  datetime: {
    model: 'DateTime',
    native: '@db.Timestamptz(3)',
    schema: 'dateTime()',
    imports: 'dateTime',
    filter: ['gte', 'lte'],
    sorted: true,
    sample: 'new Date(n * 1_000).toISOString()',
    wrong: "'soon'",
  },
  uuid: {
    model: 'String',
    native: '@db.Uuid',
    schema: 'z.uuid()',
    filter: ['equals', 'in'],
    sorted: false,
    sample: 'randomUUID()',
    wrong: "'one'",
  },
  json: { model: 'Json', schema: "z.json().meta({ format: 'json' })", filter: [], sorted: false, sample: '{ n }' },
};
