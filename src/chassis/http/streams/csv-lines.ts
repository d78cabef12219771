/** What a row is written with: names of its fields, or a heading and a function for each column. */
export type Columns<Row> = readonly (keyof Row & string)[] | Readonly<Record<string, (row: Row) => unknown>>;

const needsQuotes = /[",\r\n]/;
const numeric = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;
/** What a spreadsheet takes for a formula (OWASP: CSV injection). */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;

/** Writes rows as lines of CSV (RFC 4180); the first one names the columns. */
export class CsvLines<Row extends object> {
  readonly heading: string;
  readonly #values: readonly ((row: Row) => unknown)[];

  constructor(columns: Columns<Row>) {
    const byName = Array.isArray(columns)
      ? columns.map((name: keyof Row & string) => [name, (row: Row) => row[name]] as const)
      : Object.entries(columns as Record<string, (row: Row) => unknown>);
    this.heading = lineOf(byName.map(([name]) => name));
    this.#values = byName.map(([, value]) => value);
  }

  /** The line of a row, with its end. */
  line(row: Row): string {
    return lineOf(this.#values.map((value) => value(row)));
  }
}

function lineOf(values: readonly unknown[]): string {
  return `${values.map(fieldOf).join(',')}\r\n`;
}

/** A text that a spreadsheet would run gets an apostrophe, which makes it text; numbers stay as they are. */
function fieldOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  const text = textOf(value);
  // A decimal writes itself as text.
  const isNumber = typeof value !== 'string' && numeric.test(text);
  const safe = formula.test(text) && !isNumber ? `'${text}` : text;
  return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Date) return value.toISOString();
  const written = (value as { toJSON?(): unknown }).toJSON?.() ?? value;
  return typeof written === 'string' ? written : JSON.stringify(written);
}
