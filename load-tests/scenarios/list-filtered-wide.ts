import { browse, oneOf } from '../lib/lists.ts';
import { optionsOf } from '../lib/options.ts';
import { reportOf } from '../lib/report.ts';
import { setupOf, type World } from '../lib/world.ts';

/** Somebody browses what most records pass: a range, with a related record or without, sorted by its field. */
export const options = optionsOf('list-filtered-wide', { all: [250, 500] });
export const setup = setupOf('list-filtered-wide');
export const handleSummary = reportOf('list-filtered-wide');

export default function browseFiltered(world: World): void {
  const question = oneOf(world.wide);
  if (question) browse(world, { ...question, name: 'wide filter', lastPage: 50 });
}
