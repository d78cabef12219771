import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readModels } from '../../../src/chassis/database/models/read-models.ts';
import { makeRecord } from '../../../src/chassis/testing/make-record.ts';
import { bootTestApp } from '../../support/boot-test-app.ts';

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
  const models = readModels(`
model Hen {
  id    Int @id
  eggId Int
  egg   Egg @relation("from", fields: [eggId], references: [id])
  eggs  Egg[] @relation("by")
}
model Egg {
  id    Int @id
  henId Int
  hen   Hen @relation("by", fields: [henId], references: [id])
  hens  Hen[] @relation("from")
}`);
  const made = makeRecord({}, 'hen', {}, models);
  await expect(made).rejects.toThrow('Expected a reference to a given Hen; Hen, Egg need each other.');
});
