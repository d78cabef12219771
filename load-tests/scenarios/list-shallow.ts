import { get } from '../lib/client.ts';
import { byId, checkNeighbours, readPage } from '../lib/list-contract.ts';
import { optionsOf } from '../lib/profiles.ts';
import { reportOf } from '../lib/report.ts';
import { refuseUnfitTarget, type Seeded } from '../lib/target.ts';

/** Somebody opens a list and turns the page: two of the first ten pages. */
export const options = optionsOf('list-shallow', { http_req_duration: ['p(95)<100', 'p(99)<250'] });
export const setup = refuseUnfitTarget;
export const handleSummary = reportOf('list-shallow');

const pageSize = 20;

export default function turnPage({ total }: Seeded): void {
  const page = 1 + Math.floor(9 * Math.random());
  const first = read(page, total);
  const second = read(page + 1, total);
  if (first && second) checkNeighbours(first, second, byId);
}

function read(page: number, total: number) {
  const answer = get('/api/v1/products/paginated', 'shallow page', { page, pageSize });
  return answer && readPage(answer, { page, pageSize, total, order: byId });
}
