import { check } from 'k6';
import { ask } from '../lib/client.ts';
import { optionsOf } from '../lib/options.ts';
import { reportOf } from '../lib/report.ts';
import { tokenOf } from '../lib/session.ts';
import { setupOf, type World } from '../lib/world.ts';

/** A program reads all records as one stream. */
export const options = optionsOf('export', { all: [10_000, 20_000] });
export const setup = setupOf('export');
export const handleSummary = reportOf('export');

export default function readAll(world: World): void {
  const { resource, session, total } = world;
  const answer = ask(resource.routes.export?.path ?? '', { name: 'export', token: tokenOf(session) });
  if (!answer) return;
  const isCsv = String(answer.headers['Content-Type']).startsWith('text/csv');
  // A line break within quotes is part of a value.
  const lines = answer.body
    .replace(/"(?:[^"]|"")*"/g, '')
    .split('\n')
    .filter((line) => line !== '').length;
  check(lines, {
    'an export has every record': (count) => !world.steady || count === total + (isCsv ? 1 : 0),
  });
}
