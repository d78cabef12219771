import { ConflictException, eachByItself, ResourceService, unscoped } from 'slipway';
import { locking } from './order.service.ts';
import { totalOf } from './order-line.repository.ts';
import { chargeOf, noticeOf, type PaymentNotice, toldReason } from './orders.schema.ts';
import type { PaymentRepository } from './payment.repository.ts';

/** Payments that were asked for so long ago that no request is under way any more which has the provider charge. */
const abandoned = () => ({ status: 'pending', updatedAt: { lt: new Date(Date.now() - 5 * 60_000) } });

export class PaymentService extends ResourceService<PaymentRepository> {
  readonly #provider = this.cradle.paymentProvider;
  readonly #unpaidMs = this.cradle.settings.ORDERS_UNPAID_MINUTES * 60_000;

  /**
   * Has the provider charge for an order. However often it is asked, an order has one payment under way, and its id is the
   * key under which the provider charges once.
   *
   * @throws ConflictException for an order that cannot be paid or was placed too long ago, or where the provider declines
   */
  async pay(orderId: string): Promise<void> {
    const { id: reference, amount } = await this.#begin(orderId);
    const known = { body: { reference, amount }, schema: chargeOf(reference) };
    const charge = await this.#provider.post('/charges', { ...known, idempotencyKey: reference, accept: [402] });
    if (charge.status === 402) {
      const reason = toldReason.parse(charge.data?.reason) ?? null;
      await this.settle({ reference, status: 'failed', reason });
      throw new ConflictException('The payment was declined', { reason });
    }
    if (charge.data.status === 'succeeded') await this.settle({ reference, status: 'succeeded' });
  }

  /**
   * Takes what the provider says of a payment; said again, it changes nothing.
   *
   * @param expected what the payment has to be, to be settled. Default: pending
   * @throws ConflictException where it is something else, such as settled otherwise
   */
  settle({ reference, status, reason = null }: PaymentNotice, expected: object = { status: 'pending' }): Promise<void> {
    return this.unitOfWork(async () => {
      const settled = await this.repository.updateIf(reference, expected, { status, reason });
      if (settled) return this.#orderSettled(settled.orderId, status);
      const payment = await this.repository.getById(reference, { status: true });
      if (payment.status !== status) throw new ConflictException(`This payment has ${payment.status}`);
    }, locking);
  }

  /** Asks the provider for payments whose outcome nobody told; for those that are still under way again minutes later. */
  settleAbandoned(signal: AbortSignal): Promise<void> {
    const ask = ({ id }: { id: string }) => this.#settleByProvider(id);
    return unscoped('pending payments', () => eachByItself(this.repository.each({ where: abandoned(), signal }), ask));
  }

  async #settleByProvider(reference: string): Promise<void> {
    const { status, data } = await this.#provider.get('/charges/{reference}', { path: { reference }, accept: [404] });
    if (status === 404) await this.settle({ reference, status: 'failed', reason: 'It never began' }, abandoned());
    else if (data.status !== 'pending') await this.settle(noticeOf(reference).parse(data));
    // Asked for in each run, many of these would take all of its time, and none behind them would have its turn.
    else await this.repository.askAnew({ id: reference });
  }

  #begin(orderId: string): Promise<{ id: string; amount: number }> {
    return this.unitOfWork(async () => {
      // The payment before its order, as who settles it: in another order of locks the two would deadlock.
      await this.repository.askAnew({ orderId });
      const { tenantId, placedAt } = await this.cradle.orderRepository.move(orderId, 'paying');
      // Asked for again and again, it would keep its stock for ever.
      if (Number(placedAt) < Date.now() - this.#unpaidMs) throw new ConflictException('This order is too old to pay');
      const pending = await this.repository.pendingOf(orderId);
      if (pending) return pending;
      const amount = totalOf(await this.cradle.orderLineRepository.of(orderId));
      return this.repository.create({ tenantId, orderId, amount }, { id: true, amount: true });
    }, locking);
  }

  async #orderSettled(orderId: string, status: PaymentNotice['status']): Promise<void> {
    if (status === 'failed') return void (await this.cradle.orderRepository.move(orderId, 'declined'));
    await this.cradle.orderRepository.move(orderId, 'paid', { paidAt: new Date() });
    await this.cradle.events.emit('order.paid', { orderId });
  }
}
