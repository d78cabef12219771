import { Client } from 'pg';
import { get, type Work } from './load.ts';

/** A line of the table. */
export interface Kind extends Work {
  readonly name: string;
  readonly connections: number;
}

const pages = 50;
const pageSize = 20;

/** The lines of the table, asked of what the database holds: filters that many, some and few records match. */
export async function kindsOf(databaseUrl: string): Promise<Kind[]> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const column = async (sql: string) =>
    (await client.query({ text: sql, rowMode: 'array' })).rows.map(([value]) => value);
  const [low] = await column('SELECT percentile_disc(0.1) WITHIN GROUP (ORDER BY price) FROM products');
  const [since] = await column('SELECT "createdAt" FROM products ORDER BY "createdAt" DESC OFFSET 1500 LIMIT 1');
  const categories = await column(`SELECT id FROM categories ORDER BY id LIMIT ${pages}`);
  const ids = await column('SELECT id FROM products ORDER BY random() LIMIT 500');
  await client.end();
  const wide = pagesOf({ price: { gte: low } });
  const short = categories.map((id) => list({ categoryId: { equals: id }, createdAt: { gte: since } }, 1));
  const line = (name: string, requests: readonly Buffer[], { status = 200, connections = 32 } = {}): Kind => ({
    ...{ name, requests, status, connections },
  });
  return [
    line('small route', [get('/')]),
    line('unknown route', [get('/api/v1/nothing/here')], { status: 404 }),
    line('refused filter', [get('/api/v1/products/paginated?where=%7B%22secret%22%3A1%7D')], { status: 400 }),
    line(
      'one by id',
      ids.map((id) => get(`/api/v1/products/${id}`)),
    ),
    line('short list', short),
    line('narrow list', pagesOf({ createdAt: { gte: since } })),
    ...[32, 128, 512].map((connections) => line(`wide list, ${connections}`, wide, { connections })),
  ];
}

function pagesOf(where: object): Buffer[] {
  return Array.from({ length: pages }, (_, index) => list(where, index + 1));
}

function list(where: object, page: number): Buffer {
  const values = { where, orderBy: { createdAt: 'desc' }, include: { category: true } };
  const query = Object.entries(values).map(([name, value]) => `${name}=${encodeURIComponent(JSON.stringify(value))}`);
  return get(`/api/v1/products/paginated?page=${page}&pageSize=${pageSize}&${query.join('&')}`);
}
