import Database from 'libsql';
import { Client } from 'pg';
import { get, type Work } from './load.ts';

/** A line of the table. */
export interface Kind extends Work {
  readonly name: string;
  readonly connections: number;
}

const pages = 50;
const pageSize = 20;

/**
 * The lines of the table, asked of what the database holds: filters that many, some and few records match. Of an SQLite file
 * only lists, because nothing else differs much there.
 */
export async function kindsOf(databaseUrl: string): Promise<Kind[]> {
  const [[low], [latest], categories, ids] = (await columnsOf(databaseUrl, [
    'SELECT price FROM products ORDER BY price LIMIT 1 OFFSET (SELECT count(*) / 10 FROM products)',
    'SELECT "createdAt" FROM products ORDER BY "createdAt" DESC LIMIT 1 OFFSET 1500',
    `SELECT id FROM categories ORDER BY id LIMIT ${pages}`,
    'SELECT id FROM products ORDER BY random() LIMIT 500',
  ])) as [[number], [Date | string], string[], string[]];
  const since = new Date(latest);
  const wide = pagesOf({ price: { gte: low } });
  const short = categories.map((id) => list({ categoryId: { equals: id }, createdAt: { gte: since } }, 1));
  const line = (name: string, requests: readonly Buffer[], { status = 200, connections = 32 } = {}): Kind => ({
    ...{ name, requests, status, connections },
  });
  if (isFile(databaseUrl)) {
    return [line('narrow list, SQLite', pagesOf({ createdAt: { gte: since } })), line('wide list, SQLite', wide)];
  }
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

function isFile(databaseUrl: string): boolean {
  return databaseUrl.startsWith('file:');
}

/** The first column that each statement gives, of PostgreSQL or of an SQLite file. */
async function columnsOf(databaseUrl: string, statements: readonly string[]): Promise<unknown[][]> {
  if (isFile(databaseUrl)) {
    const file = new Database(databaseUrl.slice('file:'.length), { readonly: true });
    const columns = statements.map((sql) => file.prepare(sql).pluck().all());
    file.close();
    return columns;
  }
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const columns: unknown[][] = [];
  for (const text of statements) {
    const { rows } = await client.query<unknown[]>({ text, rowMode: 'array' });
    columns.push(rows.map(([value]) => value));
  }
  await client.end();
  return columns;
}

function pagesOf(where: object): Buffer[] {
  return Array.from({ length: pages }, (_, index) => list(where, index + 1));
}

function list(where: object, page: number): Buffer {
  const values = { where, orderBy: { createdAt: 'desc' }, include: { category: true } };
  const query = Object.entries(values).map(([name, value]) => `${name}=${encodeURIComponent(JSON.stringify(value))}`);
  return get(`/api/v1/products/paginated?page=${page}&pageSize=${pageSize}&${query.join('&')}`);
}
