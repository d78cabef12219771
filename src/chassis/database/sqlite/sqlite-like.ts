import { likeMarkers } from '../../query/operators.ts';
import type { SqliteStatement } from './sqlite-query.ts';

interface LikeSites {
  /** The text before, between and after the comparisons with LIKE. */
  parts: string[];
  /** Those comparisons as Prisma wrote them. */
  written: string[];
  /** Which argument each of them takes. */
  args: number[];
}

const remembered = new Map<string, LikeSites>();

/**
 * Gives the LIKE in Prisma's SQL, such as `LIKE ('%' || ? || '%')`, the meaning that the marker in its argument asks for:
 * `%` and `_` taken literally, and the case of letters significant unless the filter says `mode: 'insensitive'` (which
 * knows ASCII letters only, as SQLite does). Statements and arguments without a marker pass untouched.
 */
export function rewriteLike(statement: SqliteStatement): SqliteStatement {
  const { sql, args } = statement;
  if (!args.some(isMarked) || !sql.includes('LIKE (')) return statement;
  const sites = likeSites(sql);
  const rewritten = args.slice();
  let text = sites.parts[0] ?? '';
  sites.args.forEach((index, site) => {
    const value = args[index];
    if (isMarked(value)) {
      text += value.startsWith(likeMarkers.glob) ? 'GLOB ?' : likeOperator;
      rewritten[index] = value.slice(1);
    } else {
      text += sites.written[site];
    }
    text += sites.parts[site + 1];
  });
  return { sql: text, args: rewritten };
}

function isMarked(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  return value.startsWith(likeMarkers.glob) || value.startsWith(likeMarkers.like);
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
