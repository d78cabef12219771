import { describe, expect, it, vi } from 'vitest';
import { runWithRequestContext } from '../../../src/chassis/context/request-context.ts';
import { unitOfWorkOn } from '../../../src/chassis/database/work/unit-of-work.ts';
import { databaseProviders } from '../../support/empty-database.ts';
import { raised } from '../../support/raised.ts';
import { freshDatabase, lineOf, startWork } from '../../support/start-work.ts';

describe.each(databaseProviders)('jobs on %s', (provider) => {
  it('run what is sent, with a request id, one log line, and the id of the request that sent it', async () => {
    const { jobs, line, notebook } = await startWork(await freshDatabase(provider));
    const sender = { requestId: 'sender-1', method: 'POST', url: '/', startTime: new Date() };
    await runWithRequestContext(sender, () => jobs.send('note', { text: 'first' }));
    const own = await lineOf(line, 'note');
    const note = notebook.notes.find(({ text }) => text === 'first');
    expect(own).toMatchObject({ jobId: note?.id, attempt: 1, outcome: 'completed', requestId: note?.requestId });
    expect(own).toMatchObject({ durationMs: expect.any(Number), lagMs: expect.any(Number), sentBy: 'sender-1' });
    expect(note?.requestId).not.toBe('sender-1');
  });

  it('try again what fails, report each failure and count it', async () => {
    const { jobs, line, lines, metrics, notebook } = await startWork(await freshDatabase(provider));
    await jobs.send('note', { text: 'stubborn', fail: 3 });
    const [dead] = await line('job failed for the last time');
    expect(dead).toMatchObject({ job: 'note', attempt: 3, outcome: 'dead' });
    const notes = notebook.notes.filter(({ text }) => text === 'stubborn');
    expect(notes.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(new Set(notes.map(({ id }) => id)).size).toBe(1);
    const reports = lines.filter(({ msg }) => msg.endsWith('of stubborn fails'));
    expect(reports).toHaveLength(3);
    expect(reports[0]).toMatchObject({ level: 'error', job: 'note', attempt: 1, method: 'JOB', url: 'note' });
    const text = await metrics();
    expect(text).toContain('job_runs_total{name="note",outcome="failed"} 2');
    expect(text).toContain('job_runs_total{name="note",outcome="dead"} 1');
    expect(text).toContain('errors_reported_total{exception="Error"} 3');
    expect(text).toMatch(/job_run_duration_seconds_count\{name="note"\} 3/);
    expect(text).toMatch(/job_lag_seconds_count\{name="note"\} 3/);
    // The line stands there before the end is noted.
    await vi.waitUntil(async () => (await jobs.revive('note')) === 1, { timeout: 10_000 });
    await notebook.reached(notebook.notes.length + 1);
  });

  it('are stored with the unit of work that sends them, or not at all', async () => {
    const { jobs, service, texts, line } = await startWork(await freshDatabase(provider));
    const { client } = service.database;
    const undone = service.run(() =>
      unitOfWorkOn(client, async () => {
        await jobs.send('note', { text: 'undone' });
        throw new Error('changed my mind');
      }),
    );
    await expect(undone).rejects.toThrow('changed my mind');
    await service.run(() => unitOfWorkOn(client, () => jobs.send('note', { text: 'kept' })));
    await lineOf(line, 'note');
    expect(texts()).toEqual(['kept']);
  });

  it('outlive their service: what one stored the next runs', async () => {
    const url = await freshDatabase(provider);
    const before = await startWork(url, { JOBS_ENABLED: 'false' });
    await before.jobs.send('note', { text: 'left over' });
    await before.service.close();
    expect(before.texts()).toEqual([]);
    const after = await startWork(url);
    await lineOf(after.line, 'note');
    expect(after.texts()).toEqual(['left over']);
  });

  it('that no replica runs are late in the metrics of all, also those that the clock made due', async () => {
    const url = await freshDatabase(provider);
    const sender = await startWork(url, { JOBS_ENABLED: 'false' });
    await sender.jobs.send('note', { text: 'never' });
    await sender.jobs.send('slow', { text: 'tomorrow' }, { delay: '1d' });
    const stored = () => sender.service.database.client as unknown as { $queryRawUnsafe(sql: string): Promise<[]> };
    const ticks =
      provider === 'sqlite'
        ? "SELECT 1 FROM slipway_jobs WHERE queue = 'tick-once'"
        : "SELECT 1 FROM pgboss.job WHERE name = 'tick-once'";
    await expect.poll(() => stored().$queryRawUnsafe(ticks), { timeout: 10_000 }).toHaveLength(1);
    const { metrics, texts } = await startWork(url, { JOBS_ENABLED: 'false' });
    const late = async () =>
      [...(await metrics()).matchAll(/^job_overdue_seconds\{name="(.*)"\} 0?\.?\d*[1-9]/gm)].map(([, name]) => name);
    await expect.poll(late, { timeout: 10_000 }).toEqual(['note', 'tick-once']);
    expect(await metrics()).toContain('job_overdue_seconds{name="slow"} 0\n');
    expect(texts()).toEqual([]);
  });

  it('are told of a shutdown before anything closes, and what ends by it is run again', async () => {
    const url = await freshDatabase(provider);
    const before = await startWork(url);
    await before.jobs.send('slow', { text: 'long' });
    await expect.poll(before.texts, { timeout: 10_000 }).toEqual(['long begins']);
    const { failure } = await before.service.close();
    expect(failure).toBeUndefined();
    expect(before.texts()).toEqual(['long begins', 'long ends']);
    expect(before.lines.find(({ msg }) => msg === 'job aborted')).toMatchObject({ job: 'slow', level: 'info' });
    const after = await startWork(url);
    await lineOf(after.line, 'slow');
    expect(after.notebook.notes.filter(({ text }) => text.startsWith('long')).map(({ attempt }) => attempt)).toEqual([
      2, 2,
    ]);
  });

  it('of the clock run in each replica or in one, never twice for one moment', async () => {
    const url = await freshDatabase(provider);
    const replicas = await Promise.all([startWork(url), startWork(url)]);
    const warnings = () => replicas.flatMap(({ lines }) => lines.filter(({ level }) => level !== 'info'));
    const counted = (text: string) =>
      replicas.map(({ notebook }) => notebook.notes.filter((note) => note.text === text));
    await expect.poll(() => counted('here').every((notes) => notes.length > 2), { timeout: 10_000 }).toBe(true);
    await expect.poll(() => counted('once').flat().length > 4, { timeout: 10_000 }).toBe(true);
    const ids = counted('once')
      .flat()
      .map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(warnings()).toEqual([]);
  });
});

it('of each replica run without a database, and others stop the start with what to change', async () => {
  const error = await raised(() => startWork('none'));
  expect(error.message).toBe(
    [
      'Invalid jobs or events:',
      '  work: note needs a database to wait in, and DATABASE_URL is none; set DATABASE_URL',
      '  work: slow needs a database to wait in, and DATABASE_URL is none; set DATABASE_URL',
      '  work: work.done.work needs a database to wait in, and DATABASE_URL is none; set DATABASE_URL',
      '  work: work.done.second needs a database to wait in, and DATABASE_URL is none; set DATABASE_URL',
      "  work: tick-once needs a database to wait in, and DATABASE_URL is none; declare it with replicas: 'each', or set DATABASE_URL",
      '  events are stored before anything hears of them, and DATABASE_URL is none',
    ].join('\n'),
  );
});
