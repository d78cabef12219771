/**
 * What a text filter means. SQLite has one `LIKE`, without an escape character in Prisma's SQL and blind to the case of
 * ASCII letters; so the meaning travels in front of the value, as one character of Unicode's private use area.
 */
export const likeMarkers = {
  contains: '\uF8A0',
  startsWith: '\uF8A1',
  endsWith: '\uF8A2',
  insensitiveContains: '\uF8A3',
  insensitiveStartsWith: '\uF8A4',
  insensitiveEndsWith: '\uF8A5',
  insensitiveEquals: '\uF8A6',
} as const;

/** A statement as the driver takes it. */
export interface Statement {
  sql: string;
  args: unknown[];
}

interface LikeSites {
  /** The text before, between and after the `LIKE ?` of the statement. */
  parts: string[];
  /** Which argument each of them takes. */
  args: number[];
}

const remembered = new Map<string, LikeSites>();
const firstMarker = likeMarkers.contains.charCodeAt(0);
const lastMarker = likeMarkers.insensitiveEquals.charCodeAt(0);

/**
 * Gives Prisma's `LIKE ?` the meaning that the marker in its argument asks for: `%` and `_` taken literally, and the
 * case of letters significant unless the filter says `mode: 'insensitive'` (which knows ASCII letters only, as SQLite
 * does). Statements and arguments without a marker pass untouched.
 */
export function rewriteLike(statement: Statement): Statement {
  const { sql, args } = statement;
  if (!sql.includes('LIKE ?') || !args.some(isMarked)) return statement;
  const sites = likeSites(sql);
  const rewritten = args.slice();
  let text = sites.parts[0] ?? '';
  sites.args.forEach((index, site) => {
    const value = args[index];
    if (isMarked(value)) {
      const { operator, pattern } = translate(value);
      text += operator;
      rewritten[index] = pattern;
    } else {
      text += 'LIKE ?';
    }
    text += sites.parts[site + 1] ?? '';
  });
  return { sql: text, args: rewritten };
}

function isMarked(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  const code = value.charCodeAt(value.charCodeAt(0) === 37 ? 1 : 0);
  return code >= firstMarker && code <= lastMarker;
}

function translate(value: string): { operator: string; pattern: string } {
  const start = value.charCodeAt(0) === 37 ? 1 : 0;
  const marker = value.charAt(start);
  const end = marker === likeMarkers.endsWith || marker === likeMarkers.insensitiveEndsWith ? value.length : -1;
  const text = value.slice(start + 1, end);
  switch (marker) {
    case likeMarkers.contains:
      return { operator: 'GLOB ?', pattern: `*${globText(text)}*` };
    case likeMarkers.startsWith:
      return { operator: 'GLOB ?', pattern: `${globText(text)}*` };
    case likeMarkers.endsWith:
      return { operator: 'GLOB ?', pattern: `*${globText(text)}` };
    case likeMarkers.insensitiveContains:
      return { operator: likeOperator, pattern: `%${likeText(text)}%` };
    case likeMarkers.insensitiveStartsWith:
      return { operator: likeOperator, pattern: `${likeText(text)}%` };
    case likeMarkers.insensitiveEndsWith:
      return { operator: likeOperator, pattern: `%${likeText(text)}` };
    default:
      return { operator: likeOperator, pattern: likeText(text) };
  }
}

const likeOperator = "LIKE ? ESCAPE '\\'";

/** Text in which `\`, `%` and `_` stand for themselves in a LIKE pattern with escape character `\`. */
export function likeText(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

function globText(text: string): string {
  return text.replace(/[*?[]/g, '[$&]');
}

/** Finds the placeholders outside quoted text. Prisma numbers none of them, so their order is that of the arguments. */
function likeSites(sql: string): LikeSites {
  const known = remembered.get(sql);
  if (known) return known;
  const sites: LikeSites = { parts: [], args: [] };
  let from = 0;
  let argument = -1;
  for (const match of sql.matchAll(/'[^']*'|"[^"]*"|`[^`]*`|LIKE \?|\?/g)) {
    if (!match[0].endsWith('?')) continue;
    argument += 1;
    if (match[0] === '?') continue;
    sites.parts.push(sql.slice(from, match.index));
    sites.args.push(argument);
    from = match.index + match[0].length;
  }
  sites.parts.push(sql.slice(from));
  // Bounded, because lists in filters make the number of different statements unbounded.
  if (remembered.size >= 500) remembered.clear();
  remembered.set(sql, sites);
  return sites;
}
