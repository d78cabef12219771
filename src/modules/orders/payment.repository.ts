import { type Principal, Repository } from 'slipway';
import { ownOrders } from './order.repository.ts';

export class PaymentRepository extends Repository<'payment'> {
  protected readonly model = 'payment';
  protected override readonly scope = (caller: Principal) => ({ tenantId: caller.tenantId, order: ownOrders(caller) });
  protected override readonly audit = { into: 'change' } as const;

  /** The payment of an order that is under way. */
  pendingOf(orderId: string) {
    return this.orm.payment.findFirst({ where: { orderId, status: 'pending' }, select: { id: true, amount: true } });
  }

  /** Has payments that are under way not pass for abandoned, now that somebody asks for them. */
  async askAnew(asked: { orderId: string } | { id: string }): Promise<void> {
    await this.orm.payment.updateMany({ where: { ...asked, status: 'pending' }, data: { status: 'pending' } });
  }
}
