import { DriverAdapterError } from '@prisma/driver-adapter-utils';

type Cause = DriverAdapterError['cause'];

const extendedCodes = { unique: 2067, primaryKey: 1555, notNull: 1299, foreignKey: 787, trigger: 1811 } as const;
const busy = 5;

/** The error of the driver in the ORM's form; other errors as they are. */
export function toAdapterError(error: unknown): unknown {
  const { rawCode, message, code } = error as { rawCode?: unknown; message?: unknown; code?: unknown };
  if (!(error instanceof Error) || typeof code !== 'string' || typeof message !== 'string') return error;
  const extended = typeof rawCode === 'number' ? rawCode : 1;
  return new DriverAdapterError({
    originalCode: String(extended),
    originalMessage: message,
    ...cause(extended, message),
  });
}

function cause(code: number, message: string): Cause {
  if (code === extendedCodes.unique || code === extendedCodes.primaryKey) {
    const columns = failedColumns(message);
    const table = columns?.[0]?.split('.').slice(0, -1).join('.') || undefined;
    return { kind: 'UniqueConstraintViolation', ...constraint(columns), ...(table !== undefined && { table }) };
  }
  if (code === extendedCodes.notNull) return { kind: 'NullConstraintViolation', ...constraint(failedColumns(message)) };
  if (code === extendedCodes.foreignKey || code === extendedCodes.trigger) {
    return { kind: 'ForeignKeyConstraintViolation', constraint: { foreignKey: {} } };
  }
  if ((code & 0xff) === busy) return { kind: 'SocketTimeout' };
  return missing(message) ?? { kind: 'sqlite', extendedCode: code, message };
}

function missing(message: string): Cause | undefined {
  const table = /^no such table: (.+)/.exec(message)?.[1];
  if (table !== undefined) return { kind: 'TableDoesNotExist', table };
  const column = /^no such column: (.+)/.exec(message)?.[1] ?? /has no column named (.+)/.exec(message)?.[1];
  return column === undefined ? undefined : { kind: 'ColumnNotFound', column };
}

/** What stands behind "constraint failed: ", such as `users.email`. */
function failedColumns(message: string): string[] | undefined {
  return message.split('constraint failed: ')[1]?.split(', ');
}

function constraint(columns: string[] | undefined): { constraint?: { fields: string[] } } {
  return columns ? { constraint: { fields: columns.map((column) => column.split('.').at(-1) as string) } } : {};
}
