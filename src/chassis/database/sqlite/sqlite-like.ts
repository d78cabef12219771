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
  /** The text before, between and after the comparisons with LIKE. */
  parts: string[];
  /** Those comparisons as Prisma wrote them. */
  written: string[];
  /** Which argument each of them takes. */
  args: number[];
}

const remembered = new Map<string, LikeSites>();
const firstMarker = likeMarkers.contains.charCodeAt(0);
const lastMarker = likeMarkers.insensitiveEquals.charCodeAt(0);

/**
 * Gives the LIKE in Prisma's SQL, such as `LIKE ('%' || ? || '%')`, the meaning that the marker in its argument asks for:
 * `%` and `_` taken literally, and the case of letters significant unless the filter says `mode: 'insensitive'` (which
 * knows ASCII letters only, as SQLite does). Statements and arguments without a marker pass untouched.
 */
export function rewriteLike(statement: Statement): Statement {
  const { sql, args } = statement;
  if (!args.some(isMarked) || !sql.includes('LIKE (')) return statement;
  const sites = likeSites(sql);
  const rewritten = args.slice();
  let text = sites.parts[0] ?? '';
  sites.args.forEach((index, site) => {
    const value = args[index];
    if (isMarked(value)) {
      text += value.charCodeAt(0) < likeMarkers.insensitiveContains.charCodeAt(0) ? 'GLOB ?' : likeOperator;
      rewritten[index] = pattern(value.charAt(0), value.slice(1));
    } else {
      text += sites.written[site];
    }
    text += sites.parts[site + 1];
  });
  return { sql: text, args: rewritten };
}

function isMarked(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  const code = value.charCodeAt(0);
  return code >= firstMarker && code <= lastMarker;
}

function pattern(marker: string, text: string): string {
  switch (marker) {
    case likeMarkers.contains:
      return `*${globText(text)}*`;
    case likeMarkers.startsWith:
      return `${globText(text)}*`;
    case likeMarkers.endsWith:
      return `*${globText(text)}`;
    case likeMarkers.insensitiveContains:
      return `%${likeText(text)}%`;
    case likeMarkers.insensitiveStartsWith:
      return `${likeText(text)}%`;
    case likeMarkers.insensitiveEndsWith:
      return `%${likeText(text)}`;
    default:
      return likeText(text);
  }
}

/** Text in which `\`, `%` and `_` stand for themselves in a LIKE pattern with escape character `\`. */
export function likeText(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

function globText(text: string): string {
  return text.replace(/[*?[]/g, '[$&]');
}

const likeOperator = "LIKE ? ESCAPE '\\'";

/** LIKE with its placeholder, a placeholder by itself, and quoted text, in which a question mark is none. */
const placeholders = /LIKE \((?:'%' \|\| )?\?(?: \|\| '%')?\)|\?|'[^']*'|"[^"]*"|`[^`]*`/g;

/** Finds the comparisons with LIKE. Prisma numbers no placeholder, so their order is that of the arguments. */
function likeSites(sql: string): LikeSites {
  const known = remembered.get(sql);
  if (known) return known;
  const sites: LikeSites = { parts: [], written: [], args: [] };
  let from = 0;
  let argument = -1;
  for (const { 0: found, index } of sql.matchAll(placeholders)) {
    if (found === '?' || found.startsWith('LIKE')) argument += 1;
    if (!found.startsWith('LIKE')) continue;
    sites.parts.push(sql.slice(from, index));
    sites.written.push(found);
    sites.args.push(argument);
    from = index + found.length;
  }
  sites.parts.push(sql.slice(from));
  // Bounded, because lists in filters make the number of different statements unbounded.
  if (remembered.size >= 500) remembered.clear();
  remembered.set(sql, sites);
  return sites;
}
