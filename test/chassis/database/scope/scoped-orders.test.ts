import { afterAll, describe, expect, it } from 'vitest';
import { runAs } from '../../../../src/chassis/context/run-as.ts';
import { fields, forms, ids, list, withShop } from '../../../support/shop-orders.ts';
import { aCaller, type TenantShop, tenantModels } from '../../../support/tenant-shop.ts';

const models = await tenantModels();
afterAll(models.remove);

const a = aCaller('a');

describe.each(forms)('an order by records in a scope on $provider, read as $reads', (form) => {
  let shop: TenantShop;
  withShop(models, form, (opened) => {
    shop = opened;
  });

  it('takes a related record out of scope for missing, in a unit of work too', async () => {
    const sorted = (direction: string) => {
      const orderBy = [{ customer: { name: direction } }, { id: 'asc' }];
      return shop.orders.findMany(list(fields, { orderBy })) as unknown as Promise<{ id: number; number: string }[]>;
    };
    await runAs(a, async () => {
      expect(ids(await sorted('asc'))).toEqual([102, 101, 103, 104]);
      expect(ids(await sorted('desc'))).toEqual([101, 103, 102, 104]);
      const seen = await shop.orders.unitOfWork(async () => {
        await shop.orders.update(103 as never, { number: 'changed' } as never);
        return shop.orders.unitOfWork(() => sorted('asc'));
      });
      expect(seen.map(({ number }) => number)).toContain('changed');
      expect(ids(seen)).toEqual([102, 101, 103, 104]);
    });
  });

  it('sorts the related records that a record gives, in a unit of work too', async () => {
    const orderBy = [{ order: { number: 'desc' } }, { id: 'asc' }];
    const lines = { select: { label: true }, orderBy, take: 10 };
    const read = () => shop.orders.findMany(list({ ...fields, lines })) as unknown as Promise<{ lines: object[] }[]>;
    await runAs(a, async () => {
      const counts = (await read()).map((order) => order.lines.length);
      expect(counts).toEqual((await shop.orders.unitOfWork(read)).map((order) => order.lines.length));
      expect(counts[0]).toBeGreaterThan(0);
    });
  });
});
