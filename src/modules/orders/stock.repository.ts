import { type Principal, Repository } from 'slipway';

export class StockRepository extends Repository<'stock'> {
  protected readonly model = 'stock';
  protected override readonly scope = ({ tenantId }: Principal) => ({ tenantId });
  protected override readonly version = 'version';
  protected override readonly audit = { into: 'change' } as const;

  /** Takes so many of a product, or nothing: the statement locks the row, and finds it only while there are enough. */
  async take(productId: string, quantity: number): Promise<boolean> {
    const where = { productId, available: { gte: quantity } };
    return (await this.orm.stock.updateMany({ where, data: { available: { decrement: quantity } } })).count === 1;
  }

  /** Gives back what was taken for an order of this tenant, which may end shortages. */
  async giveBack(tenantId: string, lines: { productId: string; quantity: number }[]): Promise<void> {
    for (const { productId, quantity: increment } of lines)
      await this.orm.stock.updateMany({ where: { tenantId, productId }, data: { available: { increment } } });
    await this.noteShortage({ tenantId, productIds: lines.map(({ productId }) => productId) });
  }

  /**
   * Notes which of these products a tenant is short of, and which not any more. The statements decide, because others change
   * the stock meanwhile, and a shortage that was noted begins no second time.
   */
  async noteShortage({ tenantId, productIds: ids }: { tenantId: string; productIds: string[] }): Promise<void> {
    for (const { id, lowSince } of await this.orm.stock.findMany({ where: { tenantId, productId: { in: ids } } })) {
      const where = { id, lowSince, available: { [lowSince ? 'gte' : 'lt']: this.orm.stock.fields.reorderBelow } };
      await this.orm.stock.updateMany({ where, data: { lowSince: lowSince ? null : new Date() } });
    }
  }
}
