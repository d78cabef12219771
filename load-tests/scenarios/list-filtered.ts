import { check } from 'k6';
import { get } from '../lib/client.ts';
import { byPrice, checkNeighbours, type Page, readPage } from '../lib/list-contract.ts';
import { optionsOf } from '../lib/profiles.ts';
import { reportOf } from '../lib/report.ts';
import { refuseUnfitTarget, type Seeded } from '../lib/target.ts';

/** Somebody looks for what they can afford in two categories, cheapest first, with the name of the category. */
export const options = optionsOf('list-filtered', { http_req_duration: ['p(95)<250', 'p(99)<500'] });
export const handleSummary = reportOf('list-filtered');

const categories = ['Audio', 'Keyboards'];
const pageSize = 20;

interface PriceRange {
  gte: number;
  lte: number;
  total: number;
}

/** Price ranges, each with the number of its products, so that totals can be checked. */
export function setup(): PriceRange[] {
  const { total }: Seeded = refuseUnfitTarget();
  const ranges = [100, 1_000, 5_000, 20_000].map((gte) => ({ gte, lte: 50 * gte, total }));
  return ranges.flatMap((range) => {
    const answer = ask(range, 1);
    return answer ? [{ ...range, total: (JSON.parse(answer.body) as Page).total }] : [];
  });
}

export default function look(ranges: PriceRange[]): void {
  const range = ranges[Math.floor(ranges.length * Math.random())];
  if (!range) return;
  const first = read(range, 1);
  const second = read(range, 2);
  if (first && second) checkNeighbours(first, second, byPrice);
}

function ask({ gte, lte }: PriceRange, page: number) {
  return get('/api/v1/products/paginated', 'filtered page', {
    page,
    pageSize,
    where: { price: { gte, lte }, category: { name: { in: categories } } },
    orderBy: { price: 'asc' },
    include: { category: { select: { name: true } } },
  });
}

function read(range: PriceRange, page: number): Page | undefined {
  const answer = ask(range, page);
  if (!answer) return undefined;
  const body = readPage(answer, { page, pageSize, total: range.total, order: byPrice });
  check(body, {
    'every record passes the filter': ({ data }) =>
      data.every(
        ({ price, category }) => price >= range.gte && price <= range.lte && categories.includes(category?.name ?? ''),
      ),
  });
  return body;
}
