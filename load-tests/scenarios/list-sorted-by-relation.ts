import { relatedOrder } from '../contract/conditions.ts';
import { browse } from '../lib/lists.ts';
import { optionsOf } from '../lib/options.ts';
import { reportOf } from '../lib/report.ts';
import { setupOf, type World } from '../lib/world.ts';

/** Somebody sorts a list by a field of a related record, which joins two tables. */
export const options = optionsOf('list-sorted-by-relation', { all: [400, 800] });
export const setup = setupOf('list-sorted-by-relation');
export const handleSummary = reportOf('list-sorted-by-relation');

export default function sortByRelation(world: World): void {
  const sorted = relatedOrder(world.resource);
  if (sorted) browse(world, { ...sorted, name: 'sorted by relation', total: world.total, lastPage: 20 });
}
