/** Makes a database in which the first migration fails half-way, and prints its URL: the name of a table is taken. */
import process from 'node:process';
import { Client } from 'pg';

async function run(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  await client.end();
}

const url = new URL(process.env['DATABASE_URL'] ?? '');
await run(url.href, 'CREATE DATABASE obstructed');
url.pathname = '/obstructed';
await run(url.href, 'CREATE DOMAIN products AS text');
process.stdout.write(url.href);
