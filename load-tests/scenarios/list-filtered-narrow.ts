import { oneOf, readPage } from '../lib/lists.ts';
import { optionsOf } from '../lib/options.ts';
import { reportOf } from '../lib/report.ts';
import { setupOf, type World } from '../lib/world.ts';

/** Somebody looks up a few records by what they know of them. */
export const options = optionsOf('list-filtered-narrow', { all: [100, 250] });
export const setup = setupOf('list-filtered-narrow');
export const handleSummary = reportOf('list-filtered-narrow');

export default function lookUp(world: World): void {
  const question = oneOf(world.narrow);
  if (!question) return;
  const { conditions, order, total } = question;
  readPage(world, { name: 'narrow filter', page: 1, conditions, order, total });
}
