import { check } from 'k6';
import { idOrder } from '../contract/conditions.ts';
import { oneOf, readPage } from '../lib/lists.ts';
import { optionsOf } from '../lib/options.ts';
import { reportOf } from '../lib/report.ts';
import { setupOf, type World } from '../lib/world.ts';

/** Somebody types a word into the search box. */
export const options = optionsOf('list-search', { all: [400, 800] });
export const setup = setupOf('list-search');
export const handleSummary = reportOf('list-search');

export default function search(world: World): void {
  const { resource, words } = world;
  const found = oneOf(words);
  if (!found) return;
  const { word, total } = found;
  const body = readPage(world, { name: 'search box', page: 1, q: word, order: idOrder(resource), total });
  if (body) check(body, { 'a search finds what is stored': ({ data }) => data.length > 0 || !world.steady });
}
