import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makeRecord } from '../../../src/chassis/testing/make-record.ts';
import { bootTestApp } from '../../support/boot-test-app.ts';
import { modelsInACircle } from './models-in-a-circle.ts';

describe.each(['sqlite', 'postgresql'] as const)('a record that a test makes on %s', (provider) => {
  it('has what its model requires, each with values of its own, and what it refers to', async () => {
    const service = await bootTestApp({ provider });
    const [one, other] = [await service.make('product'), await service.make('product', { name: 'Lamp', price: 5 })];
    expect(other).toMatchObject({ name: 'Lamp', price: 5 });
    expect(new Set([one.sku, other.sku, one.categoryId, other.categoryId]).size).toBe(4);
    const before = await service.count('product');
    const line = await service.make('orderLine', { productId: one.id });
    expect(await service.count('product')).toBe(before);
    expect(line).toMatchObject({ productId: one.id, orderId: expect.any(String) });
    // Of whatever tenant it is.
    expect(await service.count('order', { id: line.orderId })).toBe(1);
  });

  it('is refused where its model is not there, or the database refuses it', async () => {
    const service = await bootTestApp({ provider });
    await expect(service.make('gadget' as 'product')).rejects.toThrow(/^Expected a model of User, .*, found Gadget\.$/);
    await expect(service.make('product', { categoryId: randomUUID() })).rejects.toThrow('refers to does not exist');
  });
});

it('is refused where models require records of each other, and says which of them to give', async () => {
  const made = makeRecord({}, 'hen', {}, modelsInACircle);
  await expect(made).rejects.toThrow('Expected a reference to a given Hen; Hen, Egg need each other.');
});
