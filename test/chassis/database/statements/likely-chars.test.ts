import { describe, expect, it } from 'vitest';
import { dataModelOf } from '../../../../src/chassis/database/models/data-model.ts';
import { likelyChars } from '../../../../src/chassis/database/statements/likely-chars.ts';

const dataModel = dataModelOf(`
model Category {
  id        String    @id @db.Uuid
  name      String
  createdAt DateTime
  tags      String[]
  products  Product[]
}
model Product {
  id         String   @id @db.Uuid
  price      Int
  category   Category @relation(fields: [categoryId], references: [id])
  categoryId String   @db.Uuid
}
`);
/** From here on a list takes turns. */
const longText = 500_000;

describe('what a list may give of which nothing is known', () => {
  const charsOf = (model: string, take: number, select: Record<string, unknown>) => {
    return likelyChars(dataModel, model, { take, select });
  };

  it('is little of identifiers, numbers and times, and more of texts, which may be long', () => {
    expect(charsOf('Category', 1000, { id: true, createdAt: true, name: true })).toBeLessThan(longText);
    expect(charsOf('Category', 1000, { id: true, name: true, tags: true })).toBeGreaterThan(longText);
    expect(charsOf('Category', 100, { id: true, name: true, tags: true })).toBeLessThan(longText);
  });

  it('is one record more where each leads to one, and anything where each leads to many', () => {
    const category = { select: { id: true, name: true } };
    expect(charsOf('Product', 100, { id: true, category })).toBe(100 * (30 + 30 + 250));
    expect(charsOf('Category', 1, { id: true, products: { select: { id: true } } })).toBeGreaterThan(longText);
  });
});
