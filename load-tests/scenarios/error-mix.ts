import { check } from 'k6';
import { ask, bodyOf, type Query } from '../lib/client.ts';
import { oneOf } from '../lib/lists.ts';
import { optionsOf } from '../lib/options.ts';
import { reportOf } from '../lib/report.ts';
import { tokenOf } from '../lib/session.ts';
import { setupOf, type World } from '../lib/world.ts';

/** Somebody sends what is wrong; each request is refused with the one error body (spec.md: Error response body). */
export const options = optionsOf('error-mix', { all: [50, 150] });
export const setup = setupOf('error-mix');
export const handleSummary = reportOf('error-mix');

interface Wrong {
  name: string;
  path: string;
  expected: number[];
  method?: string;
  query?: Query;
  body?: object;
  token?: string | undefined;
}

export default function err(world: World): void {
  const wrong = oneOf(wrongRequests(world));
  if (!wrong) return;
  const { path, ...asked } = wrong;
  const answer = ask(path, asked);
  if (!answer) return;
  const body = bodyOf<Record<string, unknown>>(answer);
  check(body, {
    'an error has the one body': ({ success, message, statusCode, timestamp }) =>
      success === false &&
      typeof message === 'string' &&
      statusCode === answer.status &&
      !Number.isNaN(Date.parse(String(timestamp))),
    'an error tells nothing of the inside': () => !/\bat .+:\d+:\d+|node_modules|prisma/i.test(answer.body),
  });
}

function wrongRequests({ resource, session, ids }: World): Wrong[] {
  const { search, get, create } = resource.routes;
  const token = tokenOf(session);
  const list = search?.path ?? '';
  const unknown = String(ids[0]).replace(/[0-9a-f]/g, '0');
  return [
    { name: 'broken JSON', path: list, query: { where: '{"a":' }, expected: [400], token },
    { name: 'unknown field', path: list, query: { where: { noSuchField: 1 } }, expected: [400], token },
    { name: 'unknown order', path: list, query: { orderBy: { noSuchField: 'asc' } }, expected: [400], token },
    { name: 'page too large', path: list, query: { pageSize: 1 + resource.pageSize.maximum }, expected: [400], token },
    { name: 'page 0', path: list, query: { page: 0 }, expected: [400], token },
    { name: 'forged cursor', path: list, query: { cursor: 'bm90IGEgY3Vyc29y' }, expected: [400], token },
    { name: 'unknown route', path: `${resource.path}-of-nobody`, expected: [404], token },
    { name: 'wrong method', path: list, method: 'PROPFIND', expected: [404, 405], token },
    ...(get ? [{ name: 'unknown record', path: get.path.replace(/\{\w+\}$/, unknown), expected: [404], token }] : []),
    ...(create?.guarded
      ? [{ name: 'without a login', path: create.path, method: 'POST', body: {}, expected: [401] }]
      : []),
  ];
}
