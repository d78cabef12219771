import { randomUUID } from 'node:crypto';

/** A product that may be created, with a sku of its own; `changes` replace what a test is about. */
export function aProduct(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    sku: `TEST-${randomUUID()}`,
    name: 'Test product',
    description: 'Made by a test',
    price: 1999,
    categoryId: randomUUID(),
    ...changes,
  };
}
