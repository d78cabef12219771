import { check } from 'k6';
import exec from 'k6/execution';
import { idOrder } from '../contract/conditions.ts';
import { plainlyOrdered } from '../contract/fields.ts';
import type { Order, Page } from '../contract/invariants.ts';
import { checkNeighbours, checkWhole, isAudit, readPage } from '../lib/lists.ts';
import { optionsOf } from '../lib/options.ts';
import { reportOf } from '../lib/report.ts';
import { setupOf, type World } from '../lib/world.ts';

/**
 * A program walks through the whole list by cursor. Each user goes on where it was, so that the walk gets deep; every
 * other one walks in the order of a field.
 */
export const options = optionsOf('list-deep-cursor', { all: [150, 300] });
export const setup = setupOf('list-deep-cursor');
export const handleSummary = reportOf('list-deep-cursor');

interface Walk {
  readonly before: Page;
  readonly pages: number;
  readonly records: number;
}

/** Where the user is in each list, by its path. */
const walks = new Map<string, Walk>();

/** Two pages further; from the end back to the start. */
export default function walkOn(world: World): void {
  const pageSize = Math.max(1, Math.floor(world.resource.pageSize.maximum / 2));
  const order = orderOfWalk(world);
  for (let step = 0; step < 2; step += 1) {
    const before = walks.get(world.resource.path);
    const cursor = before?.before.nextCursor ?? '';
    const body = readPage(world, { name: 'cursor', cursor, pageSize, order, total: world.total });
    if (!body) return;
    if (before) checkNeighbours(world, before.before, body, order);
    const walk = { before: body, pages: (before?.pages ?? 0) + 1, records: (before?.records ?? 0) + body.data.length };
    walks.set(world.resource.path, walk);
    audit(world, walk, { order, pageSize });
  }
}

function orderOfWalk({ resource }: World): Order {
  // k6 hands its users what setup gave with the keys in any order, so that the first of them may be another each time.
  const [sorted] = Object.entries(resource.sorts)
    .filter(([key, kind]) => !key.includes('.') && plainlyOrdered.includes(kind))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return sorted && exec.vu.idInTest % 2 === 0 ? { key: sorted[0], kind: sorted[1] } : idOrder(resource);
}

/** A walk passes the pages that their numbers give, and at its end has passed all records. */
function audit(
  world: World,
  { before, pages, records }: Walk,
  { order, pageSize }: { order: Order; pageSize: number },
): void {
  if (world.steady && isAudit()) {
    const page = readPage(world, { name: 'audit', page: pages, pageSize, order, total: world.total });
    if (page) checkWhole([before], page);
  }
  if (before.nextCursor !== null) return;
  if (world.steady) check(records, { 'a walk passes every record once': (count) => count === world.total });
  walks.delete(world.resource.path);
}
