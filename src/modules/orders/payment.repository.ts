import { type Principal, Repository } from 'slipway';
import { ownOrders } from './order.repository.ts';

const charged = { id: true, amount: true } as const;

export class PaymentRepository extends Repository<'payment'> {
  protected readonly model = 'payment';
  protected override readonly scope = (caller: Principal) => ({ tenantId: caller.tenantId, order: ownOrders(caller) });
  protected override readonly audit = { into: 'change' } as const;

  /** The payment of an order that is under way. */
  pendingOf(orderId: string) {
    return this.orm.payment.findFirst({ where: { orderId, status: 'pending' }, select: charged });
  }

  /** The same, which is not abandoned now that somebody asks for it; null where there is none. */
  async askAnew(orderId: string) {
    const pending = await this.pendingOf(orderId);
    return pending && this.updateIf(pending.id, { status: 'pending' }, { status: 'pending' }, charged);
  }
}
