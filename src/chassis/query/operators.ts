import type { FieldKind } from './policy/field-types.ts';
import type { Filter } from './query-types.ts';

/**
 * What one comparison asks of the database: to find records by an index, to walk a part of it, to read every text, or to
 * look into the Json field of every record.
 */
export type ComparisonCost = 'lookup' | 'range' | 'search' | 'scan';

/** One comparison of a field. */
export interface Comparison {
  readonly field: string;
  readonly operand: unknown;
  /** Whether `mode` says 'insensitive'. */
  readonly insensitive: boolean;
}

/** All that the chassis knows of an operator. */
export interface Operator {
  /** The kinds of fields that take it. */
  readonly kinds: readonly FieldKind[];
  /** What stands behind it: a value of the field, also null where the field can be null, or a list of values. */
  readonly operand: 'value' | 'nullable' | 'list';
  /** What comparing with one value costs, of a Json field too; without `insensitive` it takes no `mode: 'insensitive'`. */
  readonly cost: {
    readonly default: ComparisonCost;
    readonly insensitive?: ComparisonCost;
    readonly json?: ComparisonCost;
  };
  /** Whether the text may begin anywhere in that of the field, so that the database tries each place. */
  readonly anywhere?: boolean;
  /** The filter in the ORM's form for each database, with the same meaning on both. */
  readonly translation: Readonly<Record<Provider, (comparison: Comparison) => Filter>>;
}

const ordered = ['text', 'uuid', 'integer', 'number', 'date', 'bigint', 'decimal'] as const;
const listed = [...ordered, 'enum'] as const;
const compared = [...listed, 'boolean', 'json'] as const;
// Equal but for case cannot be said to the ORM so that an index serves it.
const byText = { default: 'lookup', insensitive: 'search' } as const;
// No index is sure to serve what stands inside of a Json field.
const byTextOrJson = { ...byText, json: 'scan' } as const;
const search = { default: 'search', insensitive: 'search' } as const;

/**
 * Every operator of `where` that compares a field (spec.md: SearchOptions): parsing, bounds, types, translation, the API
 * description and the tests are made of this table. Later rows make the better example.
 */
export const operators = {
  equals: { kinds: compared, operand: 'nullable', cost: byTextOrJson, translation: same() },
  not: { kinds: compared, operand: 'nullable', cost: { ...byTextOrJson, default: 'range' }, translation: notSame() },
  in: { kinds: listed, operand: 'list', cost: byText, translation: anyOf() },
  notIn: { kinds: listed, operand: 'list', cost: { ...byText, default: 'range' }, translation: noneOf() },
  lt: { kinds: ordered, operand: 'value', cost: { default: 'range' }, translation: unchanged('lt') },
  lte: { kinds: ordered, operand: 'value', cost: { default: 'range' }, translation: unchanged('lte') },
  gt: { kinds: ordered, operand: 'value', cost: { default: 'range' }, translation: unchanged('gt') },
  gte: { kinds: ordered, operand: 'value', cost: { default: 'range' }, translation: unchanged('gte') },
  startsWith: { kinds: ['text'], operand: 'value', cost: search, translation: matching('startsWith') },
  endsWith: { kinds: ['text'], operand: 'value', cost: search, anywhere: true, translation: matching('endsWith') },
  contains: { kinds: ['text'], operand: 'value', cost: search, anywhere: true, translation: matching('contains') },
} as const satisfies Record<string, Operator>;

/** What joins conditions; every filter may use it. */
export const logicalOperators = ['AND', 'OR', 'NOT'] as const;

/** What may stand before the conditions of a related record, and of related records. */
const relationWords = { one: ['is', 'isNot'], many: ['some', 'every', 'none'] } as const;

/** The words that a relation takes in a filter. */
export function relationOperators(many: boolean): readonly string[] {
  return many ? relationWords.many : relationWords.one;
}

/** The conditions on related records, each with its word; on one related record they may stand without. */
export function relationForms(many: boolean, condition: Filter): [word: string, filter: Filter][] {
  const entries = Object.entries(condition) as [string, Filter][];
  const worded = entries.length > 0 && entries.every(([name]) => relationOperators(many).includes(name));
  return many || worded ? entries : [['', condition]];
}

/** Every operator that a list policy can allow on a field. */
export type FilterOperator = keyof typeof operators;

/** The operators that a field of a kind takes. */
export type OperatorOfKind<K extends FieldKind> = {
  [O in FilterOperator]: K extends (typeof operators)[O]['kinds'][number] ? O : never;
}[FilterOperator];

/** The row of an operator; undefined for any other name. */
export function operatorNamed(name: string): Operator | undefined {
  return Object.hasOwn(operators, name) ? operators[name as FilterOperator] : undefined;
}

/** The names of the operators that a field of a kind takes, in the order of the table. */
export function operatorsOf(kind: FieldKind): string[] {
  return Object.entries<Operator>(operators).flatMap(([name, { kinds }]) => (kinds.includes(kind) ? [name] : []));
}

/** Whether `mode` may stand beside some of these operators of a field. */
export function takesMode(kind: FieldKind, names: Iterable<string>): boolean {
  return kind === 'text' && [...names].some((name) => operatorNamed(name)?.cost.insensitive !== undefined);
}

/** A database that filters are translated for. */
type Provider = 'postgresql' | 'sqlite';

type Translate = (comparison: Comparison) => Filter;
type Translation = Readonly<Record<Provider, Translate>>;

/**
 * What a text filter means on SQLite, which has one `LIKE`, without an escape character in Prisma's SQL and blind to the
 * case of ASCII letters: so the meaning travels in front of the pattern, as one character of Unicode's private use area.
 */
export const likeMarkers = {
  /** A pattern of GLOB, which minds the case of letters. */
  glob: '\uF8A0',
  /** A pattern of LIKE with escape character `\`. */
  like: '\uF8A1',
} as const;

type Pattern = 'contains' | 'startsWith' | 'endsWith';

/** Text in which `\`, `%` and `_` stand for themselves in a LIKE pattern with escape character `\`. */
function likeText(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

function globText(text: string): string {
  return text.replace(/[*?[]/g, '[$&]');
}

function around(operator: Pattern, wildcard: string, text: string): string {
  return `${operator === 'startsWith' ? '' : wildcard}${text}${operator === 'endsWith' ? '' : wildcard}`;
}

/** The same on every database, in the ORM's own words. */
function unchanged(operator: string): Translation {
  const translate: Translate = ({ field, operand }) => ({ [field]: { [operator]: operand } });
  return { postgresql: translate, sqlite: translate };
}

/** A search for a part of a text, in which no character is a wildcard. */
function matching(operator: Pattern): Translation {
  return {
    postgresql: ({ field, operand, insensitive }) => ({
      [field]: { [operator]: onText(operand, likeText), ...(insensitive && { mode: 'insensitive' }) },
    }),
    sqlite: ({ field, operand, insensitive }) => ({
      [field]: {
        [operator]: onText(operand, (text) =>
          insensitive
            ? likeMarkers.like + around(operator, '%', likeText(text))
            : likeMarkers.glob + around(operator, '*', globText(text)),
        ),
      },
    }),
  };
}

/** Equal, or with `mode: 'insensitive'` equal but for the case of letters. */
function same(): Translation {
  return folding('equals', ({ field, operand }, fold) => ({ [field]: fold(operand) }));
}

/** Any other value. */
function notSame(): Translation {
  return folding('not', ({ field, operand }, fold) => ({
    NOT: { [field]: fold(operand) },
  }));
}

/** One of a list. */
function anyOf(): Translation {
  const translation = folding('in', (comparison, fold) => ({ OR: each(comparison, fold) }));
  return ofLikeNumbers(translation, (parts) => ({ OR: parts }));
}

/** None of a list. */
function noneOf(): Translation {
  const translation = folding('notIn', (comparison, fold) => ({ NOT: { OR: each(comparison, fold) } }));
  return ofLikeNumbers(translation, (parts) => ({ AND: parts }));
}

/**
 * The ORM reads a list that holds a large whole number with fewer digits of its fractions, which then equal nothing; so
 * a list with both becomes two.
 */
function ofLikeNumbers(translation: Translation, join: (parts: Filter[]) => Filter): Translation {
  const translate =
    (provider: Provider): Translate =>
    (comparison) => {
      const items = comparison.operand;
      const whole = Array.isArray(items) ? items.filter(Number.isInteger) : [];
      if (!Array.isArray(items) || whole.length === 0 || whole.length === items.length) {
        return translation[provider](comparison);
      }
      const others = items.filter((item) => !Number.isInteger(item));
      return join([whole, others].map((operand) => translation[provider]({ ...comparison, operand })));
    };
  return { postgresql: translate('postgresql'), sqlite: translate('sqlite') };
}

type Fold = (operand: unknown) => unknown;

/** What the ORM says itself, unless the case of letters is to be ignored. */
function folding(operator: string, insensitively: (comparison: Comparison, fold: Fold) => Filter): Translation {
  const exactly = unchanged(operator);
  const translate =
    (provider: Provider): Translate =>
    (comparison) =>
      comparison.insensitive && hasText(comparison.operand)
        ? insensitively(comparison, folds[provider])
        : exactly[provider](comparison);
  return { postgresql: translate('postgresql'), sqlite: translate('sqlite') };
}

const folds: Record<Provider, Fold> = {
  postgresql: (operand) => (typeof operand === 'string' ? { equals: likeText(operand), mode: 'insensitive' } : operand),
  sqlite: (operand) => (typeof operand === 'string' ? { startsWith: likeMarkers.like + likeText(operand) } : operand),
};

function each({ field, operand }: Comparison, fold: Fold): Filter[] {
  return (operand as unknown[]).map((item) => ({ [field]: fold(item) }));
}

function hasText(operand: unknown): boolean {
  return Array.isArray(operand) ? operand.length > 0 : typeof operand === 'string';
}

function onText(operand: unknown, change: (text: string) => string): unknown {
  return typeof operand === 'string' ? change(operand) : operand;
}
