import { randomBytes } from 'node:crypto';
import {
  BusinessException,
  ConflictException,
  currentPrincipal,
  eachByItself,
  ForbiddenException,
  ResourceService,
  type Selection,
  type ServerEvent,
  SharedPace,
  unscoped,
  ValidationException,
} from 'slipway';
import type { OrderRepository } from './order.repository.ts';
import { totalOf } from './order-line.repository.ts';
import type { CreateOrder, NewLine, UpdateOrder } from './orders.schema.ts';

/** Who waited for a lock goes on with what is stored now, and what another transaction was in the way of is tried again. */
export const locking = { isolation: 'read-committed', retries: 3 } as const;

const mostCents = 20_000_000_00;

export class OrderService extends ResourceService<OrderRepository, CreateOrder, UpdateOrder> {
  readonly #lines = this.cradle.orderLineRepository;
  readonly #stock = this.cradle.stockRepository;
  readonly #products = this.cradle.productService;
  readonly #events = this.cradle.events;
  readonly #unpaidMs = this.cradle.settings.ORDERS_UNPAID_MINUTES * 60_000;
  readonly #pace = new SharedPace();

  /** Stores a draft of the caller. @throws ValidationException for a product that there is not */
  override async create({ lines, ...order }: CreateOrder, select?: Selection) {
    const ownerId = currentPrincipal()?.userId as string;
    const number = randomBytes(6).toString('hex').toUpperCase();
    const priced = await this.#priced(lines);
    return this.unitOfWork(async () => {
      const { id } = await this.repository.create({ ...order, ownerId, number }, { id: true });
      await this.#lines.add(id, priced);
      return this.repository.getById(id, select);
    });
  }

  /** Changes a draft. @throws ConflictException once it is placed */
  override update(id: string, { lines, ...order }: UpdateOrder, select?: Selection) {
    if (order.internalNote !== undefined && !currentPrincipal()?.roles.has('admin'))
      throw new ForbiddenException('Internal notes are for administrators');
    return this.unitOfWork(async () => {
      await this.repository.move(id, 'draft', order);
      if (lines) await this.#lines.replace(id, await this.#priced(lines));
      return this.repository.getById(id, select);
    }, locking);
  }

  /** Cancels an order, and hides it. @throws ConflictException once its payment has begun */
  override delete(id: string) {
    return this.unitOfWork(async () => {
      const { status } = await this.repository.getById(id, { status: true });
      if (status !== 'cancelled' && status !== 'expired') await this.#giveUp(id, 'cancelled');
      await this.repository.delete(id);
    }, locking);
  }

  /**
   * Takes the stock of a draft, or places nothing: a draft may be old, and is placed neither for what it cost then nor for
   * anything else than its owner has seen, until its lines are sent again.
   *
   * @throws ConflictException where there is not enough, it would cost something else now, or it is no draft
   */
  place(id: string): Promise<void> {
    return this.unitOfWork(async () => {
      const { tenantId } = await this.repository.move(id, 'placed', { placedAt: new Date() }, { tenantId: true });
      const lines = await this.#lines.of(id);
      if (totalOf(await this.#priced(lines)) !== totalOf(lines)) throw new ConflictException('The prices have changed');
      for (const { productId, quantity } of lines)
        if (!(await this.#stock.take(productId, quantity)))
          throw new ConflictException('There is not enough in stock', { productId, quantity });
      await this.#events.emit('order.placed', { orderId: id, tenantId, productIds: lines.map((one) => one.productId) });
    }, locking);
  }

  /** Cancels an order and gives back its stock. @throws ConflictException once its payment has begun */
  cancel(id: string): Promise<void> {
    return this.#giveUp(id, 'cancelled');
  }

  /** Expires what was placed too long ago and is not paid. Done again, it finds nothing to do. */
  expireUnpaid(signal: AbortSignal): Promise<void> {
    const where = { status: { in: ['placed', 'declined'] }, placedAt: { lt: new Date(Date.now() - this.#unpaidMs) } };
    const expire = ({ id }: { id: string }) => this.#giveUp(id, 'expired').catch(ignoreConflict);
    return unscoped('unpaid orders expire', () => eachByItself(this.repository.each({ where, signal }), expire));
  }

  /** Notes what the tenant of a placed order is short of now. */
  noteShortage(order: Slipway.Events['order.placed']): Promise<void> {
    return unscoped('stock of a placed order', () => this.#stock.noteShortage(order));
  }

  /** The states of an order as it gets into them, to the last one. @param since the version that is known already */
  async *changes(id: string, since: string | undefined): AsyncGenerator<ServerEvent> {
    let known = since;
    for await (const _ of this.#pace.moments()) {
      const { status, version } = await this.repository.getById(id, { status: true, version: true });
      if (String(version) !== known) yield { id: String(version), event: 'status', data: { status } };
      if (['paid', 'cancelled', 'expired'].includes(status)) return;
      known = String(version);
    }
  }

  #giveUp(id: string, to: 'cancelled' | 'expired'): Promise<void> {
    return this.unitOfWork(async () => {
      const { placedAt, tenantId } = await this.repository.move(id, to, {}, { placedAt: true, tenantId: true });
      if (placedAt !== null) await this.#stock.giveBack(tenantId, await this.#lines.of(id));
    }, locking);
  }

  async #priced(lines: readonly NewLine[]) {
    const prices = await this.#products.pricesOf(lines.map(({ productId }) => productId));
    const priced = lines.map((line, index) => {
      const price = prices.get(line.productId);
      if (price !== undefined) return { ...line, price };
      throw new ValidationException({ [`lines.${index}.productId`]: ['There is no such product'] });
    });
    if (totalOf(priced) > mostCents) throw new BusinessException('An order costs at most 20,000,000.00');
    return priced;
  }
}

/** Another replica, or the customer, was faster. */
function ignoreConflict(error: unknown): void {
  if (!(error instanceof ConflictException)) throw error;
}
