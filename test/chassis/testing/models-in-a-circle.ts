import { readModels } from '../../../src/chassis/database/models/read-models.ts';

/** Two models whose records need each other, so that none can be the first. */
export const modelsInACircle = readModels(`
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
