import { lastPage } from '../contract/invariants.ts';
import { oddPage, oneOf, readNeighbours } from '../lib/lists.ts';
import { optionsOf } from '../lib/options.ts';
import { reportOf } from '../lib/report.ts';
import { setupOf, type World } from '../lib/world.ts';

/** Somebody browses what most records pass: a range, with a related record or without, sorted by its field. */
export const options = optionsOf('list-filtered-wide', { all: [250, 500] });
export const setup = setupOf('list-filtered-wide');
export const handleSummary = reportOf('list-filtered-wide');

export default function browse(world: World): void {
  const question = oneOf(world.wide);
  if (!question) return;
  const { conditions, order, total } = question;
  const pageSize = Math.min(20, world.resource.pageSize.maximum);
  const page = oddPage(Math.min(50, lastPage({ total, pageSize })));
  const include = Object.fromEntries(question.include.map((name) => [name, true]));
  readNeighbours(world, { name: 'wide filter', page, pageSize, conditions, order, include, total });
}
