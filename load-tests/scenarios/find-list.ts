import { check } from 'k6';
import exec from 'k6/execution';
import { idOrder, passes, whereOf } from '../contract/conditions.ts';
import type { Row } from '../contract/fields.ts';
import { areDistinct, isSorted } from '../contract/invariants.ts';
import { ask, bodyOf } from '../lib/client.ts';
import { oneOf } from '../lib/lists.ts';
import { optionsOf } from '../lib/options.ts';
import { reportOf } from '../lib/report.ts';
import { tokenOf } from '../lib/session.ts';
import { setupOf, type World } from '../lib/world.ts';

/** A program reads a list without pages: by turns whole, up to its limit, and filtered. */
export const options = optionsOf('find-list', {
  'find whole': [400, 800],
  'find filtered': [100, 250],
});
export const setup = setupOf('find-list');
export const handleSummary = reportOf('find-list');

export default function find(world: World): void {
  const { resource, session, narrow } = world;
  const { find } = resource.routes;
  const question = exec.scenario.iterationInTest % 2 === 1 ? oneOf(narrow) : undefined;
  const { conditions = [], total = world.total } = question ?? {};
  const query = conditions.length > 0 ? { where: whereOf(conditions) } : {};
  const name = question ? 'find filtered' : 'find whole';
  const answer = ask(find?.path ?? '', { name, query, token: tokenOf(session) });
  if (!answer) return;
  const { data } = bodyOf<{ data: Row[] }>(answer);
  const limit = Number(answer.headers['X-Result-Limit'] ?? 1_000);
  check(data, {
    'no record twice in a list': () => areDistinct(data),
    'records are in order': () => isSorted(data, idOrder(resource), resource.fields['id'] ?? 'other'),
    'every record passes the filter': () => data.every((row) => passes(row, conditions)),
    'the list is as long as it can be': () => !world.steady || data.length === Math.min(limit, total),
  });
}
