import { describe, expect, it } from 'vitest';
import { unitOfWorkOn } from '../../../src/chassis/database/work/unit-of-work.ts';
import { databaseProviders } from '../../support/empty-database.ts';
import { raised } from '../../support/raised.ts';
import { freshDatabase, lineOf, startWork } from '../../support/start-work.ts';

describe.each(databaseProviders)('domain events on %s', (provider) => {
  it('reach each handler as a job of its own, which is tried again by itself', async () => {
    const { events, line, texts } = await startWork(await freshDatabase(provider));
    await events.emit('work.done', { text: 'digging', number: 7 });
    await lineOf(line, 'work.done.second');
    await lineOf(line, 'work.done.work');
    expect(texts().sort()).toEqual(['first heard digging 7', 'second heard digging', 'second heard digging']);
  });

  it('are stored with the unit of work that emits them, or not at all', async () => {
    const { events, line, service, texts } = await startWork(await freshDatabase(provider));
    const { client } = service.database;
    const undone = service.run(() =>
      unitOfWorkOn(client, async () => {
        await events.emit('work.done', { text: 'undone', number: 1 });
        throw new Error('changed my mind');
      }),
    );
    await expect(undone).rejects.toThrow('changed my mind');
    await service.run(() => unitOfWorkOn(client, () => events.emit('work.done', { text: 'kept', number: 2 })));
    await lineOf(line, 'work.done.second');
    await lineOf(line, 'work.done.work');
    expect(new Set(texts())).toEqual(new Set(['first heard kept 2', 'second heard kept']));
  });

  it('that nobody handles are no failure, and are not stored', async () => {
    const { events } = await startWork(await freshDatabase(provider));
    await expect(events.emit('work.unheard', { text: 'in the woods' })).resolves.toBeUndefined();
  });

  it('are refused when their data is another than declared, or their name nearly one', async () => {
    const { events } = await startWork(await freshDatabase(provider), { JOBS_ENABLED: 'false' });
    const unfit = await raised(() => events.emit('work.done', { text: 'x', number: 0.5 }));
    expect(unfit.message).toBe('The data of the event work.done does not fit its declaration');
    const unknown = await raised(() => events.emit('work.don' as 'work.done', { text: 'x', number: 1 }));
    expect(unknown.message).toContain('found "work.don": is work.done meant?');
  });
});
