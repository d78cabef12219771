import type { PageResult } from './query-types.ts';

/** The longest header, in characters: proxies take 4 KB for all headers of an answer, some of which are others'. */
const maxCharacters = 2048;

/** What is kept of too many links, the most useful first. */
const preference = ['next', 'prev', 'first', 'last'];

/**
 * The `Link` header of a page (RFC 8288): first, prev, next and last where they exist and are known. In keyset mode
 * first and next, by cursor. Every other parameter of the request stays as it was. The header has at most 2,048
 * characters: links that do not fit are left out, last and first before prev and next; the body has page, total and
 * nextCursor in any case.
 *
 * @param url path and query of the request
 */
export function paginationLinks(
  url: string,
  page: Omit<PageResult, 'data'> & { data: { readonly length: number } },
): string {
  // Repeated in each link, a query that fills the header by itself is not even escaped.
  return url.length > maxCharacters ? '' : fitting(linksOf(url, page));
}

function fitting(links: readonly Link[]): string {
  const kept = new Set<Link>();
  let left = maxCharacters;
  for (const relation of preference) {
    const link = links.find((one) => one.relation === relation);
    if (!link || link.text.length + 2 > left) continue;
    kept.add(link);
    left -= link.text.length + 2;
  }
  return links
    .filter((link) => kept.has(link))
    .map(({ text }) => text)
    .join(', ');
}

interface Link {
  relation: string;
  text: string;
}

function linksOf(url: string, page: Parameters<typeof paginationLinks>[1]): Link[] {
  const target = targetOf(url);
  if (page.nextCursor !== undefined) {
    const first = target('cursor=', 'first');
    return page.nextCursor === null ? [first] : [first, target(`cursor=${page.nextCursor}`, 'next')];
  }
  const last = page.total === null ? undefined : Math.max(1, Math.ceil(page.total / page.pageSize));
  const links = [target('page=1', 'first')];
  if (page.page > 1) links.push(target(`page=${Math.min(page.page - 1, last ?? page.page)}`, 'prev'));
  const hasNext = last === undefined ? page.data.length === page.pageSize : page.page < last;
  if (hasNext) links.push(target(`page=${page.page + 1}`, 'next'));
  if (last !== undefined) links.push(target(`page=${last}`, 'last'));
  return links;
}

function targetOf(url: string): (parameter: string, relation: string) => Link {
  const start = url.indexOf('?');
  const path = start < 0 ? url : url.slice(0, start);
  const parameters =
    start < 0
      ? []
      : url
          .slice(start + 1)
          .split('&')
          .filter((part) => part !== '' && !isPosition(part));
  const base = escapeUri(`${path}?${parameters.map((part) => `${part}&`).join('')}`);
  return (parameter, relation) => ({ relation, text: `<${base}${parameter}>; rel="${relation}"` });
}

function isPosition(part: string): boolean {
  const name = part.split('=', 1)[0] as string;
  // Names may be percent-encoded too; only then are they worth decoding.
  const decoded = name.includes('%') ? [...new URLSearchParams(name).keys()][0] : name;
  return decoded === 'page' || decoded === 'cursor';
}

// What may not stand between the angle brackets of the header.
function escapeUri(text: string): string {
  return text.toWellFormed().replace(/[^\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]/g, encodeURIComponent);
}
