import type { Filter } from './query-types.ts';

/** A database that filters are translated for. */
export type Provider = 'postgresql' | 'sqlite';

interface Compared {
  readonly field: string;
  readonly operand: unknown;
  readonly insensitive: boolean;
}
type Translate = (comparison: Compared) => Filter;
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
export function likeText(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

function globText(text: string): string {
  return text.replace(/[*?[]/g, '[$&]');
}

function around(operator: Pattern, wildcard: string, text: string): string {
  return `${operator === 'startsWith' ? '' : wildcard}${text}${operator === 'endsWith' ? '' : wildcard}`;
}

/** The same on every database, in the ORM's own words. */
export function unchanged(operator: string): Translation {
  const translate: Translate = ({ field, operand }) => ({ [field]: { [operator]: operand } });
  return { postgresql: translate, sqlite: translate };
}

/** A search for a part of a text, in which no character is a wildcard. */
export function matching(operator: Pattern): Translation {
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
export const same: Translation = folding('equals', ({ field, operand }, fold) => ({ [field]: fold(operand) }));

/** Any other value. */
export const notSame: Translation = folding('not', ({ field, operand }, fold) => ({
  NOT: { [field]: fold(operand) },
}));

/** One of a list. */
export const anyOf: Translation = folding('in', (comparison, fold) => ({ OR: each(comparison, fold) }));

/** None of a list. */
export const noneOf: Translation = folding('notIn', (comparison, fold) => ({ NOT: { OR: each(comparison, fold) } }));

type Fold = (operand: unknown) => unknown;

/** What the ORM says itself, unless the case of letters is to be ignored. */
function folding(operator: string, insensitively: (comparison: Compared, fold: Fold) => Filter): Translation {
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

function each({ field, operand }: Compared, fold: Fold): Filter[] {
  return (operand as unknown[]).map((item) => ({ [field]: fold(item) }));
}

function hasText(operand: unknown): boolean {
  return Array.isArray(operand) ? operand.length > 0 : typeof operand === 'string';
}

function onText(operand: unknown, change: (text: string) => string): unknown {
  return typeof operand === 'string' ? change(operand) : operand;
}
