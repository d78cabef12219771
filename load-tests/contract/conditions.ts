import { compareValues, type FieldKind, plainlyOrdered, type Row, valueAt } from './fields.ts';
import type { Order } from './invariants.ts';
import type { Relation, Resource } from './resource.ts';

/** One comparison of a filter. JSON, so that k6 can hand it to its users. */
export interface Condition {
  /** The field; `category.name` is of a related record. */
  readonly path: string;
  readonly kind: FieldKind;
  readonly operator: 'in' | 'equals' | 'range' | 'contains';
  /** The values of `in`, the one of `equals` and `contains`, the first and the last of a range. */
  readonly values: readonly unknown[];
}

/** A filter of a list, what it has to include to be checked, and the order that it is read in. */
export interface Question {
  readonly conditions: readonly Condition[];
  readonly include: readonly string[];
  readonly order: Order;
  /** Matching records when the run began. */
  readonly total: number;
}

/** Every list ends with the id, and without an order it has no other. */
export function idOrder({ fields }: Resource): Order {
  return { key: 'id', kind: fields['id'] ?? 'other' };
}

/** The filter as `where` takes it. */
export function whereOf(conditions: readonly Condition[]): object {
  const parts = conditions.map(({ path, operator, values }) => {
    const [first, last] = values;
    const compared = {
      in: { in: values },
      equals: { equals: first },
      contains: { contains: first },
      range: { gte: first, lte: last },
    }[operator];
    return path.split('.').reduceRight<object>((inner, name) => ({ [name]: inner }), compared);
  });
  return Object.assign({}, ...parts);
}

/** Whether a record passes a filter. */
export function passes(row: Row, conditions: readonly Condition[]): boolean {
  return conditions.every(({ path, kind, operator, values }) => {
    const value = valueAt(row, path);
    if (operator === 'contains') return String(value).includes(String(values[0]));
    if (operator !== 'range') return values.some((one) => one === value || compareValues(kind, one, value) === 0);
    const [from, to] = [compareValues(kind, values[0], value), compareValues(kind, value, values[1])];
    return from !== undefined && to !== undefined && from <= 0 && to <= 0;
  });
}

/**
 * Filters that most records pass, made of sampled records: ranges of a field that has an order, each with a related
 * record too where there is one. Empty where the list has no such filter.
 */
export function wideFilters(resource: Resource, samples: readonly Row[]): Omit<Question, 'total'>[] {
  const ranged = Object.entries(resource.filters).flatMap(([path, words]) => {
    const kind = resource.fields[path] ?? 'other';
    const isRanged = words.includes('gte') && words.includes('lte') && plainlyOrdered.includes(kind);
    return isRanged && valuesOf(samples, path).length > 0 ? [{ path, kind }] : [];
  });
  // What is sorted by the field that it is filtered by shows whether an index serves both.
  const best = ranged.find(({ path }) => path in resource.sorts) ?? ranged[0];
  const related = relatedCondition(resource, samples);
  if (!best) return lettersOf(resource, samples);
  const values = valuesOf(samples, best.path).sort((one, other) => compareValues(best.kind, one, other) ?? 0);
  const at = (share: number) => values[Math.floor(share * (values.length - 1))];
  const order: Order = best.path in resource.sorts ? { key: best.path, kind: best.kind } : idOrder(resource);
  return [
    [0, 0.9],
    [0.1, 1],
    [0.25, 0.75],
    [0.4, 0.9],
  ].map(([from = 0, to = 1], index) => {
    const range: Condition = { ...best, operator: 'range', values: [at(from), at(to)] };
    const joined = related && index % 2 === 1;
    return { conditions: joined ? [range, related.condition] : [range], include: joined ? [related.name] : [], order };
  });
}

/** The values that sampled records have of a field. */
function valuesOf(samples: readonly Row[], path: string): unknown[] {
  return samples.map((row) => valueAt(row, path)).filter((value) => value !== null && value !== undefined);
}

/** Filters that few records pass, made of sampled records. Empty where the list has no such filter. */
export function narrowFilters(resource: Resource, samples: readonly Row[]): Omit<Question, 'total'>[] {
  const fields = Object.entries(resource.filters).flatMap(([path, words]) => {
    const kind = resource.fields[path] ?? 'other';
    const values = [...new Set(valuesOf(samples, path))];
    const comparable = kind !== 'other' && kind !== 'decimal' && (words.includes('in') || words.includes('equals'));
    return comparable && values.length > 0 ? [{ path, kind, words, values }] : [];
  });
  // The more values a field has, the fewer records each finds. The id comes last: reading one record asks for it as well.
  const rank = ({ path, values }: (typeof fields)[number]) => (path === 'id' ? 0 : values.length);
  const [best] = fields.sort((one, other) => rank(other) - rank(one));
  if (!best) return [];
  const { path, kind, words, values } = best;
  const operator = words.includes('in') ? 'in' : 'equals';
  return chunks(values, operator === 'in' ? 3 : 1)
    .slice(0, 10)
    .map((chosen) => ({
      conditions: [{ path, kind, operator, values: chosen }],
      include: [],
      order: idOrder(resource),
    }));
}

/** An order by a field of a related record, preferably one that a list can include, so that it can be seen. */
export function relatedOrder({ sorts, relations }: Resource): { order: Order; include: string[] } | undefined {
  const orders = Object.entries(sorts)
    .filter(([key]) => key.includes('.'))
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, kind]) => ({
      order: { key, kind },
      include: relations.map(({ name }) => name).filter((name) => key.startsWith(`${name}.`)),
    }));
  return orders.find(({ include }) => include.length > 0) ?? orders[0];
}

/** Words to search for: the longest word of each text of the sampled records, and of those that they refer to. */
export function searchWords({ fields, relations }: Resource, samples: readonly Row[]): string[] {
  const own = Object.keys(fields).filter((name) => fields[name] === 'text');
  const related = relations.flatMap(({ name, fields }) =>
    Object.keys(fields).flatMap((field) => (fields[field] === 'text' ? [`${name}.${field}`] : [])),
  );
  const words = samples.flatMap((row) => [...own, ...related].map((path) => longestWord(valueAt(row, path))));
  return [...new Set(words)].filter((word) => word.length >= 3 && word.length <= 50);
}

function longestWord(text: unknown): string {
  // The engine of k6 knows no classes of letters; beyond ASCII, all counts as one.
  const words = String(text ?? '').split(/[^0-9A-Za-z\u0080-\uffff]+/);
  return words.sort((one, other) => other.length - one.length)[0] ?? '';
}

/** Filters by a letter that is common in a field of text. */
function lettersOf(resource: Resource, samples: readonly Row[]): Omit<Question, 'total'>[] {
  const searched = Object.entries(resource.filters).find(
    ([path, words]) => words.includes('contains') && resource.fields[path] === 'text',
  );
  if (!searched) return [];
  const [path] = searched;
  const texts = samples.map((row) => String(row[path] ?? ''));
  const frequency = (letter: string) => texts.filter((text) => text.includes(letter)).length;
  const letters = [...'etaoinsr'].sort((one, other) => frequency(other) - frequency(one)).slice(0, 3);
  return letters.map((letter) => ({
    conditions: [{ path, kind: 'text', operator: 'contains', values: [letter] }],
    include: [],
    order: idOrder(resource),
  }));
}

function relatedCondition({ relations }: Resource, samples: readonly Row[]) {
  for (const { name, filters, fields } of relations.filter(({ many }: Relation) => !many)) {
    const [field] =
      Object.entries(filters).find(([path, words]) => words.includes('in') && fields[path] === 'text') ?? [];
    const values = [
      ...new Set(samples.map((row) => valueAt(row, `${name}.${field}`)).filter((value) => typeof value === 'string')),
    ];
    if (field === undefined || values.length < 2) continue;
    const some = shortest(values, Math.min(5, Math.ceil(values.length / 2)));
    return {
      name,
      condition: { path: `${name}.${field}`, kind: 'text', operator: 'in', values: some } satisfies Condition,
    };
  }
  return undefined;
}

/** A long query leaves no room for links in the header, so that fewer of long texts are taken: at least one. */
function shortest(values: readonly string[], count: number): string[] {
  let length = 0;
  return values.slice(0, count).filter((value, index) => {
    length += encodeURIComponent(value).length;
    return index === 0 || length <= longestTexts;
  });
}

const longestTexts = 150;

function chunks<T>(values: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, index) =>
    values.slice(index * size, (index + 1) * size),
  );
}
