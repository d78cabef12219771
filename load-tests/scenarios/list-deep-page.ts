import exec from 'k6/execution';
import { idOrder } from '../contract/conditions.ts';
import { lastPage } from '../contract/invariants.ts';
import { random, readNeighbours } from '../lib/lists.ts';
import { optionsOf } from '../lib/options.ts';
import { reportOf } from '../lib/report.ts';
import { setupOf, type World } from '../lib/world.ts';

/** Somebody goes to the end of a long list by its page number: two pages of the last tenth. */
export const options = optionsOf('list-deep-page', { all: [250, 500] });
export const setup = setupOf('list-deep-page');
export const handleSummary = reportOf('list-deep-page');

export default function turnLatePage(world: World): void {
  const { resource, total } = world;
  const pageSize = Math.max(1, Math.floor(resource.pageSize.maximum / 2));
  const last = lastPage({ total, pageSize });
  // The last page shows whether the total is right: by turns, since a short run may miss it by chance.
  const back = exec.scenario.iterationInTest % 2 === 0 ? 0 : random(Math.ceil(last / 10));
  const page = Math.max(1, last - 1 - back);
  readNeighbours(world, { name: 'deep page', page, pageSize, order: idOrder(resource), total });
}
