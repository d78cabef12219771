import { type Principal, Repository } from 'slipway';
import { ownOrders } from './order.repository.ts';

/** A line of an order: so many of a product, each at the price of the moment it was put into the order. */
export interface PricedLine {
  productId: string;
  quantity: number;
  price: number;
}

/** What lines cost together, in cents. */
export function totalOf(lines: readonly Pick<PricedLine, 'quantity' | 'price'>[]): number {
  return lines.reduce((total, { quantity, price }) => total + quantity * price, 0);
}

export class OrderLineRepository extends Repository<'orderLine'> {
  protected readonly model = 'orderLine';
  protected override readonly scope = (caller: Principal) => ({ order: ownOrders(caller) });

  /** The lines of an order, by product: who locks their stock in this order never waits in a circle. */
  of(orderId: string): Promise<PricedLine[]> {
    const select = { productId: true, quantity: true, price: true };
    return this.orm.orderLine.findMany({ where: { orderId }, select, orderBy: { productId: 'asc' } });
  }

  /** What each of these orders costs, in cents. */
  async totalsOf(orders: readonly { id: string }[]): Promise<number[]> {
    const ids = orders.map(({ id }) => id);
    const select = { orderId: true, quantity: true, price: true };
    const lines = await this.orm.orderLine.findMany({ where: { orderId: { in: ids } }, select });
    const byOrder = Map.groupBy(lines, ({ orderId }) => orderId);
    return ids.map((id) => totalOf(byOrder.get(id) ?? []));
  }

  /** Puts these lines in the place of those that an order has. */
  async replace(orderId: string, lines: readonly PricedLine[]): Promise<void> {
    await this.orm.orderLine.deleteMany({ where: { orderId } });
    await this.orm.orderLine.createMany({ data: lines.map((line) => ({ ...line, orderId })) });
  }
}
