import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { act, aDraft, aTenant, beyondScopes, openOrderShop } from '../support/order-shop.ts';

const { app } = await openOrderShop();
const tenant = await aTenant(app, 10, 5, 0);

describe('changes of orders', () => {
  it('are looked for a hundred times a second at most, however many follow them', async () => {
    const { id } = await aDraft(tenant.user, tenant.products, 1);
    const { orderRepository, orderService } = app.service.container.cradle;
    let looks = 0;
    const { getById } = orderRepository;
    orderRepository.getById = (...query) => {
      looks += 1;
      return Reflect.apply(getById, orderRepository, query);
    };
    onTestFinished(() => void Object.assign(orderRepository, { getById }));
    await beyondScopes(app, async () => {
      const followers = Array.from({ length: 400 }, () => orderService.changes(id, undefined));
      for (const follower of followers) await follower.next();
      const changes = followers.map((follower) => follower.next());
      await wait(2000);
      expect(looks).toBe(400);
      await act(tenant.user, 'cancel', id).expectData();
      const told = await Promise.all(changes);
      expect(told.every(({ value }) => value?.data.status === 'cancelled')).toBe(true);
    });
  });
});
