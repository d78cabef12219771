import { idOrder } from '../contract/conditions.ts';
import { oddPage, readNeighbours } from '../lib/lists.ts';
import { optionsOf } from '../lib/options.ts';
import { reportOf } from '../lib/report.ts';
import { setupOf, type World } from '../lib/world.ts';

/** Somebody opens a list and turns the page: two of the first ten, as long as the service makes them by default. */
export const options = optionsOf('list-shallow', { all: [100, 250] });
export const setup = setupOf('list-shallow');
export const handleSummary = reportOf('list-shallow');

export default function turnPage(world: World): void {
  const { resource, total } = world;
  const pages = Math.min(10, Math.ceil(total / resource.pageSize.default));
  readNeighbours(world, { name: 'shallow page', page: oddPage(pages), order: idOrder(resource), total });
}
