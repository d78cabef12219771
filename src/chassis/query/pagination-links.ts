import type { PageResult } from './query-types.ts';

/**
 * The `Link` header of a page (RFC 8288): first, prev, next and last where they exist and are known. In keyset mode
 * first and next, by cursor. Every other parameter of the request stays as it was.
 *
 * @param url path and query of the request
 */
export function paginationLinks(
  url: string,
  page: Omit<PageResult, 'data'> & { data: { readonly length: number } },
): string {
  const target = targetOf(url);
  if (page.nextCursor !== undefined) {
    const next = page.nextCursor === null ? '' : `, ${target(`cursor=${page.nextCursor}`, 'next')}`;
    return target('cursor=', 'first') + next;
  }
  const last = page.total === null ? undefined : Math.max(1, Math.ceil(page.total / page.pageSize));
  const links = [target('page=1', 'first')];
  if (page.page > 1) links.push(target(`page=${Math.min(page.page - 1, last ?? page.page)}`, 'prev'));
  const hasNext = last === undefined ? page.data.length === page.pageSize : page.page < last;
  if (hasNext) links.push(target(`page=${page.page + 1}`, 'next'));
  if (last !== undefined) links.push(target(`page=${last}`, 'last'));
  return links.join(', ');
}

function targetOf(url: string): (parameter: string, relation: string) => string {
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
  return (parameter, relation) => `<${base}${parameter}>; rel="${relation}"`;
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
