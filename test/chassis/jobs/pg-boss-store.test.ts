import { join } from 'node:path';
import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../../src/chassis/database/client/orm.ts';
import { applyMigrations } from '../../../src/chassis/database/migrations/apply-migrations.ts';
import { installJobs } from '../../../src/chassis/jobs/install-jobs.ts';
import { PgBossStore } from '../../../src/chassis/jobs/pg-boss-store.ts';
import { emptyDatabase, onServer } from '../../support/empty-database.ts';
import { recordingLogger } from '../../support/log-lines.ts';
import { freshDatabase, startWork } from '../../support/start-work.ts';

const modules = join(import.meta.dirname, '../../fixtures/modules-jobs');
const rules = { attempts: 2, backoffMs: 0, expiryMs: 60_000 };

/** The rights of a role that a service runs as: it reads and writes rows, and changes no schema. */
const rights = (schema: string, role: string) => `
  GRANT USAGE ON SCHEMA ${schema} TO ${role};
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role};
  GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} TO ${role}`;

it('needs no right to change a schema once the database is migrated', async () => {
  const { settings, remove } = await emptyDatabase('postgresql');
  const role = `slipway_clerk_${process.pid}`;
  await applyMigrations(settings);
  await installJobs(settings, modules);
  await onServer(`CREATE ROLE ${role} LOGIN PASSWORD 'clerk'`);
  const owner = new Client({ connectionString: settings.DATABASE_URL });
  await owner.connect();
  await owner.query(rights('pgboss', role));
  const url = Object.assign(new URL(settings.DATABASE_URL), { username: role, password: 'clerk' }).href;
  const orm = await openDatabase({ ...settings, DATABASE_URL: url });
  const { client, pool } = orm;
  if (!pool) throw new Error('Expected a pool of connections.');
  const store = new PgBossStore({ client, pool, databaseUrl: url, leaseSeconds: 10, logger: recordingLogger().logger });
  onTestFinished(async () => {
    await store.close();
    await orm.close();
    await owner.query(`DROP OWNED BY ${role}`);
    await owner.end();
    await remove();
    await onServer(`DROP ROLE ${role}`);
  });
  await store.open([{ name: 'clerk', policy: 'standard', ...rules }]);
  await store.store('clerk', [{ data: { n: 1 } }]);
  const [job] = await store.take('clerk', 1);
  if (!job) throw new Error('Expected the job that was stored.');
  await store.extend([job]);
  await store.recover();
  await store.fail(job, 'no');
  await store.complete(job);
  await expect(pool.query('CREATE TABLE pgboss.more (id int)')).rejects.toThrow(/permission denied/);
});

it('writes nothing of queues that are as they should be, and changes the others', async () => {
  const { settings, remove } = await emptyDatabase('postgresql');
  await applyMigrations(settings);
  await installJobs(settings, modules);
  const orm = await openDatabase(settings);
  onTestFinished(async () => {
    await orm.close();
    await remove();
  });
  /** Which transaction has written each queue, once a store was opened whose mail is tried again after `backoffMs`. */
  async function writersAfter(backoffMs: number): Promise<Record<string, string>> {
    const { client, pool } = orm;
    if (!pool) throw new Error('Expected a pool of connections.');
    const { logger } = recordingLogger();
    const store = new PgBossStore({ client, pool, databaseUrl: settings.DATABASE_URL, leaseSeconds: 10, logger });
    await store.open([
      { name: 'mail', policy: 'standard', ...rules, backoffMs },
      { name: 'ledger', policy: 'ordered', ...rules },
    ]);
    await store.close();
    const { rows } = await pool.query('SELECT name, xmin::text FROM pgboss.queue');
    return Object.fromEntries(rows.map(({ name, xmin }) => [name, xmin]));
  }
  const made = await writersAfter(0);
  expect(Object.keys(made)).toEqual(expect.arrayContaining(['mail', 'mail/dead', 'ledger']));
  expect(await writersAfter(0)).toEqual(made);
  const changed = await writersAfter(5000);
  expect(changed).toEqual({ ...made, mail: expect.not.stringMatching(`^${made['mail']}$`) });
  expect(await writersAfter(5000)).toEqual(changed);
});

it('keeps its tables beside the schema that DATABASE_URL names', async () => {
  const url = new URL(await freshDatabase('postgresql'));
  url.searchParams.set('schema', 'shop');
  const { jobs, notebook } = await startWork(url.href);
  await jobs.send('note', { text: 'in the shop' });
  await expect.poll(() => notebook.notes.map(({ text }) => text), { timeout: 10_000 }).toContain('in the shop');
  const client = new Client({ connectionString: url.href.replace(/\?.*/, '') });
  await client.connect();
  const { rows } = await client.query("SELECT nspname FROM pg_namespace WHERE nspname ~ '^(shop|pgboss)' ORDER BY 1");
  await client.end();
  expect(rows.map(({ nspname }) => nspname)).toEqual(['shop', 'shop_jobs']);
});

it('says what to do when the tables of jobs are not there', async () => {
  const url = await freshDatabase('postgresql');
  await expect(startWork(url, { DATABASE_MIGRATE: 'false' })).rejects.toThrow(
    /^Jobs cannot be opened: .*Migrating makes their tables: npm run db:migrate, or the command migrate\.$/,
  );
});
