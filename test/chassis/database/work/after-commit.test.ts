import { describe, expect, it } from 'vitest';
import { currentPrincipal, isUnscoped } from '../../../../src/chassis/context/request-context.ts';
import { runAs, unscoped } from '../../../../src/chassis/context/run-as.ts';
import { afterCommit } from '../../../../src/chassis/database/work/after-commit.ts';
import { createService } from '../../../../src/chassis/service.ts';
import { databaseProviders } from '../../../support/empty-database.ts';
import { openShop } from '../../../support/open-shop.ts';
import { raised } from '../../../support/raised.ts';
import { aCaller } from '../../../support/tenant-shop.ts';
import { memoryLog } from '../../http/bare-app.ts';

describe.each(databaseProviders)('work after a commit on %s', (provider) => {
  const shop = openShop(provider);

  it('runs once, in order, and never when what it belongs to was undone', async () => {
    const ran: string[] = [];
    const note = (name: string) => afterCommit(() => void ran.push(name));
    note('outside');
    expect(ran).toEqual(['outside']);
    await shop.categories.unitOfWork(async () => {
      note('first');
      await shop.categories.unitOfWork(async () => note('nested'));
      await raised(() =>
        shop.categories.unitOfWork(async () => {
          note('undone');
          throw new RangeError('mine');
        }),
      );
      afterCommit(async () => void ran.push(`stored ${(await shop.categories.count()).toString()}`));
      await shop.categories.create({ name: 'a' });
      expect(ran).toEqual(['outside']);
    });
    expect(ran).toEqual(['outside', 'first', 'nested', 'stored 1']);
    const undone = async () => {
      note('undone');
      throw new RangeError('mine');
    };
    await raised(() => shop.categories.unitOfWork(undone));
    expect(ran).toHaveLength(4);
  });

  it('runs as who acted where it was added, and not as who began the unit', async () => {
    const ran: unknown[] = [];
    const note = () => afterCommit(async () => void ran.push([currentPrincipal()?.userId, isUnscoped()]));
    const ann = aCaller('a', 'ann');
    await unscoped('a test', () =>
      shop.categories.unitOfWork(async () => {
        await runAs(ann, async () => shop.categories.unitOfWork(async () => note()));
        runAs(ann, note);
        note();
      }),
    );
    await runAs(ann, () => shop.categories.unitOfWork(async () => unscoped('a test', note)));
    expect(ran).toEqual([
      ['ann', false],
      ['ann', false],
      [undefined, true],
      ['ann', true],
    ]);
  });

  it('leaves the result as it is when it fails, and is logged', async () => {
    const { logger, lines } = memoryLog();
    const service = createService({ modules: [], server: { port: 0 } }, { env: { NODE_ENV: 'test' }, logger });
    const ran: string[] = [];
    const work = async () => {
      afterCommit(() => Promise.reject(new RangeError('mine')));
      afterCommit(() => void ran.push('next'));
      return 'stored';
    };
    expect(await service.run(() => shop.categories.unitOfWork(work))).toBe('stored');
    expect(ran).toEqual(['next']);
    expect(lines).toMatchObject([{ level: 'error', msg: 'work after a commit failed', err: { message: 'mine' } }]);
  });
});
