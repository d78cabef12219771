import { get } from '../lib/client.ts';
import { byId, checkNeighbours, lastPage, type Page, readPage } from '../lib/list-contract.ts';
import { optionsOf } from '../lib/profiles.ts';
import { reportOf } from '../lib/report.ts';
import { refuseUnfitTarget, type Seeded } from '../lib/target.ts';

/**
 * Somebody goes to the end of a long list by its page number, and a program walks through all of it by cursor. Each
 * virtual user goes on where it was, so that the walk gets deep; both kinds are measured apart.
 */
export const options = optionsOf('list-deep', {
  'http_req_duration{name:deep page}': ['p(95)<250', 'p(99)<500'],
  'http_req_duration{name:cursor}': ['p(95)<150', 'p(99)<300'],
});
export const setup = refuseUnfitTarget;
export const handleSummary = reportOf('list-deep');

const path = '/api/v1/products/paginated';
const pageSize = 50;
let walked: Page | undefined;

export default function goDeep({ total }: Seeded): void {
  if (Math.random() < 0.5) turnLatePage(total);
  else walkOn(total);
}

/** A page of the last tenth, and the one behind it. */
function turnLatePage(total: number): void {
  const last = lastPage({ total, pageSize });
  const page = Math.max(1, last - 1 - Math.floor((last / 10) * Math.random()));
  const [first, second] = [page, page + 1].map((number) => {
    const answer = get(path, 'deep page', { page: number, pageSize });
    return answer && readPage(answer, { page: number, pageSize, total, order: byId });
  });
  if (first && second) checkNeighbours(first, second, byId);
}

/** Two pages further; from the end back to the start. */
function walkOn(total: number): void {
  for (let step = 0; step < 2; step += 1) {
    const before = walked?.nextCursor ? walked : undefined;
    const answer = get(path, 'cursor', { cursor: before?.nextCursor ?? '', pageSize });
    if (!answer) return;
    walked = readPage(answer, { pageSize, total, order: byId });
    if (before) checkNeighbours(before, walked, byId);
  }
}
