import { expect, it } from 'vitest';
import { unscoped } from '../../../src/chassis/context/run-as.ts';
import { fillModels } from '../../../src/chassis/testing/fill-database.ts';
import { bootTestApp } from '../../support/boot-test-app.ts';
import { modelsInACircle } from './models-in-a-circle.ts';

it.each(['sqlite', 'postgresql'] as const)(
  'each model gets records that refer to each other, as many as it lacks, on %s',
  async (provider) => {
    const service = await bootTestApp({ provider });
    const fill = () => service.service.run(() => unscoped('a test', () => fillModels(service.orm, 520)));
    await fill();
    const counts = async () =>
      Promise.all(
        (['product', 'category', 'profile', 'stock', 'orderLine'] as const).map((model) => service.count(model)),
      );
    expect(await counts()).toEqual([1_000, 520, 520, 520, 520]);
    // By turns, so that there is something to include and to filter by.
    const shared = await service.orm.apiKey.groupBy({ by: ['userId'], _count: true });
    expect(Math.max(...shared.map(({ _count }) => _count))).toBe(11);
    await fill();
    expect(await counts()).toEqual([1_000, 520, 520, 520, 520]);
  },
);

it('models that need each other are refused, before anything is stored', async () => {
  await expect(fillModels({}, 1, modelsInACircle)).rejects.toThrow(
    'found Hen, Egg, which need each other; write prisma/seed.ts.',
  );
});
