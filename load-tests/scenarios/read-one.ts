import { check } from 'k6';
import type { Row } from '../contract/fields.ts';
import { idOf } from '../contract/invariants.ts';
import { ask, bodyOf } from '../lib/client.ts';
import { oneOf } from '../lib/lists.ts';
import { optionsOf } from '../lib/options.ts';
import { reportOf } from '../lib/report.ts';
import { tokenOf } from '../lib/session.ts';
import { setupOf, type World } from '../lib/world.ts';

/** Somebody opens one record. */
export const options = optionsOf('read-one', { all: [50, 150] });
export const setup = setupOf('read-one');
export const handleSummary = reportOf('read-one');

export default function readOne(world: World): void {
  const { get } = world.resource.routes;
  const id = oneOf(world.ids) ?? '';
  const path = (get?.path ?? '').replace(/\{\w+\}$/, id);
  const answer = ask(path, { name: 'one record', token: tokenOf(world.session) });
  if (!answer) return;
  const { data } = bodyOf<{ data: Row }>(answer);
  check(data, { 'the record is the one asked for': (row) => idOf(row) === id });
}
