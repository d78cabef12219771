import { check } from 'k6';
import { bodyOf, get } from '../lib/client.ts';
import { lastPage, type Page, type Product } from '../lib/list-contract.ts';
import { optionsOf } from '../lib/profiles.ts';
import { reportOf } from '../lib/report.ts';
import { refuseUnfitTarget } from '../lib/target.ts';

/** Somebody opens one product. */
export const options = optionsOf('read-one', { http_req_duration: ['p(95)<50', 'p(99)<150'] });
export const handleSummary = reportOf('read-one');

/** Identifiers of products from all over the list. */
export function setup(): string[] {
  const { total } = refuseUnfitTarget();
  const pages = lastPage({ total, pageSize: 100 });
  return [0, 1, 2, 3, 4].flatMap((part) => {
    const answer = get('/api/v1/products/paginated', 'setup', {
      page: 1 + Math.floor((part * pages) / 5),
      pageSize: 100,
    });
    return answer ? bodyOf<Page>(answer).data.map(({ id }) => id) : [];
  });
}

export default function readOne(ids: string[]): void {
  const id = ids[Math.floor(ids.length * Math.random())] ?? '';
  const answer = get(`/api/v1/products/${id}`, 'one product');
  if (!answer) return;
  const { data } = bodyOf<{ data: Product }>(answer);
  check(data, { 'the record is the one asked for': (product) => product.id === id && product.price > 0 });
}
