import { type Principal, Repository } from 'slipway';
import { ownOrders } from './order.repository.ts';
import type { PricedLine } from './orders.schema.ts';

/** What lines cost together, in cents. */
export const totalOf = (lines: readonly Pick<PricedLine, 'quantity' | 'price'>[]): number =>
  lines.reduce((total, { quantity, price }) => total + quantity * price, 0);

export class OrderLineRepository extends Repository<'orderLine'> {
  protected readonly model = 'orderLine';
  protected override readonly scope = (caller: Principal) => ({ order: ownOrders(caller) });

  /** The lines of an order, by product: who locks their stock in this order never waits in a circle. */
  of(orderId: string): Promise<PricedLine[]> {
    return this.orm.orderLine.findMany({ where: { orderId }, orderBy: { productId: 'asc' } });
  }

  /** What each of these orders costs, in cents. The database adds up: a page of orders may have a hundred thousand lines. */
  async totalsOf(orders: readonly { id: string }[]): Promise<number[]> {
    const sums = await this.#sumsOf(orders.map(({ id }) => id));
    const totals = new Map(sums.map(({ id, total }) => [id, Number(total)]));
    return orders.map(({ id }) => totals.get(id) ?? 0);
  }

  /** A statement has no scope: these are orders that the caller has read. */
  #sumsOf(ids: string[]): Promise<{ id: string; total: unknown }[]> {
    return this.provider === 'postgresql'
      ? this.orm.$queryRaw`SELECT "orderId" AS "id", sum("quantity"::bigint * "price") AS "total" FROM "order_lines"
          WHERE "orderId" = ANY(${ids}::uuid[]) GROUP BY "orderId"`
      : this.orm.$queryRaw`SELECT "orderId" AS "id", sum("quantity" * "price") AS "total" FROM "order_lines"
          WHERE "orderId" IN (SELECT value FROM json_each(${JSON.stringify(ids)})) GROUP BY "orderId"`;
  }

  /** Puts these lines in the place of those that an order has. */
  async replace(orderId: string, lines: readonly PricedLine[]): Promise<void> {
    await this.orm.orderLine.deleteMany({ where: { orderId } });
    await this.add(orderId, lines);
  }

  /** Adds these lines to those that an order has. */
  add(orderId: string, lines: readonly PricedLine[]) {
    return this.orm.orderLine.createMany({ data: lines.map((line) => ({ ...line, orderId })) });
  }
}
