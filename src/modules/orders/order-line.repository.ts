import { type Principal, Repository } from 'slipway';
import { ownOrders } from './order.repository.ts';
import type { PricedLine } from './orders.schema.ts';

/** What lines cost together, in cents. */
export function totalOf(lines: readonly Pick<PricedLine, 'quantity' | 'price'>[]): number {
  return lines.reduce((total, { quantity, price }) => total + quantity * price, 0);
}

export class OrderLineRepository extends Repository<'orderLine'> {
  protected readonly model = 'orderLine';
  protected override readonly scope = (caller: Principal) => ({ order: ownOrders(caller) });

  /** The lines of an order, by product: who locks their stock in this order never waits in a circle. */
  of(orderId: string): Promise<PricedLine[]> {
    return this.orm.orderLine.findMany({ where: { orderId }, orderBy: { productId: 'asc' } });
  }

  /** What each of these orders costs, in cents. */
  async totalsOf(orders: readonly { id: string }[]): Promise<number[]> {
    const ids = orders.map(({ id }) => id);
    const lines = await this.orm.orderLine.findMany({ where: { orderId: { in: ids } } });
    const byOrder = Map.groupBy(lines, ({ orderId }) => orderId);
    return ids.map((id) => totalOf(byOrder.get(id) ?? []));
  }

  /** Puts these lines in the place of those that an order has. */
  async replace(orderId: string, lines: readonly PricedLine[]): Promise<void> {
    await this.orm.orderLine.deleteMany({ where: { orderId } });
    await this.orm.orderLine.createMany({ data: lines.map((line) => ({ ...line, orderId })) });
  }
}
