import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createMigration } from '../../../../src/chassis/database/migrations/create-migration.ts';
import { constraintsOf } from '../../../../src/chassis/database/models/constraints-of.ts';
import { readModels } from '../../../../src/chassis/database/models/read-models.ts';

const models = `
model Order_Line {
  id            Int     @id @default(autoincrement())
  order_id      Int     @map("order_no")
  sku_code      String  @unique
  serial        String? @unique(map: "serial_is_taken")
  aFieldWithALongName                 String
  anotherFieldWithALongNameThatIsLong String
  head          Head    @relation(fields: [order_id, sku_code], references: [order_no, sku_code], onDelete: Cascade)

  @@unique([order_id, sku_code])
  @@unique(fields: [serial, order_id(sort: Desc)], name: "both", map: "serial_of_order")
  @@unique([aFieldWithALongName, anotherFieldWithALongNameThatIsLong])
  @@map("order_lines")
}

model Head {
  order_no Int
  sku_code String
  lines    Order_Line[]

  @@id([order_no, sku_code])
}
`;

it('the constraints of models have the names that migrations give them in PostgreSQL', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'slipway-constraints-'));
  const file = join(directory, 'now.prisma');
  writeFileSync(file, models);
  const written = await createMigration('all', { models: file, directory });
  const sql = readFileSync(written.find((path) => path.includes('postgresql')) ?? '', 'utf8');
  rmSync(directory, { recursive: true });
  const created = [...sql.matchAll(/(?:CONSTRAINT|UNIQUE INDEX) "([^"]+)"/g)].map(([, name]) => name);
  const constraints = constraintsOf(readModels(models));
  expect(constraints.map(([name]) => name).sort()).toEqual(created.sort());
  expect(Object.fromEntries(constraints)).toMatchObject({
    order_lines_order_no_sku_code_key: ['order_id', 'sku_code'],
    order_lines_order_no_sku_code_fkey: ['order_id', 'sku_code'],
    serial_is_taken: ['serial'],
    serial_of_order: ['serial', 'order_id'],
    order_lines_pkey: ['id'],
    Head_pkey: ['order_no', 'sku_code'],
  });
});
