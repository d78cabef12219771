import { ConflictException, type Principal, Repository, type Selection } from 'slipway';
import type { OrderStatus } from './orders.schema.ts';

/** The states that lead to each state. */
const before: Record<OrderStatus, OrderStatus[]> = {
  draft: ['draft'],
  placed: ['draft'],
  paying: ['placed', 'declined', 'paying'],
  declined: ['paying'],
  paid: ['paying'],
  cancelled: ['draft', 'placed', 'declined'],
  expired: ['placed', 'declined'],
};

/** The orders of a caller: of an administrator those of its tenant, of everybody else the own ones. */
export const ownOrders = ({ tenantId, userId, roles }: Principal) => ({
  tenantId,
  ...(!roles.has('admin') && { ownerId: userId }),
});

export class OrderRepository extends Repository<'order'> {
  protected readonly model = 'order';
  protected override readonly scope = ownOrders;
  protected override readonly softDelete = 'deletedAt';
  protected override readonly authors = { created: 'createdBy', updated: 'updatedBy' } as const;
  protected override readonly version = 'version';
  protected override readonly audit = { into: 'change', mask: ['internalNote'] } as const;

  /** Moves an order to a state, for one of many callers at once. @throws ConflictException from a state that does not lead there */
  async move(id: string, to: OrderStatus, change: Parameters<this['update']>[1] = {}, select?: Selection) {
    const moved = await this.updateIf(id, { status: { in: before[to] } }, { ...change, status: to }, select);
    if (moved) return moved;
    const { status } = await this.getById(id, { status: true });
    const what = to === 'draft' ? 'be changed' : `become ${to}`;
    throw new ConflictException(`An order that is ${status} cannot ${what}`);
  }
}
