import { check } from 'k6';
import { idOrder } from '../contract/conditions.ts';
import { lastPage } from '../contract/invariants.ts';
import { random, readPage } from '../lib/lists.ts';
import { optionsOf } from '../lib/options.ts';
import { reportOf } from '../lib/report.ts';
import { setupOf, type World } from '../lib/world.ts';

/** Somebody asks for as much as one request gives: the largest page, with every relation. */
export const options = optionsOf('list-include', { all: [500, 1000] });
export const setup = setupOf('list-include');
export const handleSummary = reportOf('list-include');

export default function askForAll(world: World): void {
  const { resource, total, include } = world;
  if (!include) return;
  const { pageSize, query } = include;
  const page = 1 + random(Math.min(10, lastPage({ total, pageSize })));
  const body = readPage(world, {
    name: 'largest include',
    page,
    pageSize,
    include: query,
    order: idOrder(resource),
    total,
  });
  if (!body) return;
  check(body, {
    'every record has what it includes': ({ data }) =>
      data.every((row) => Object.keys(query).every((name) => name in row)),
  });
}
