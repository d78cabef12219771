import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { allOrNothing } from '../../../../src/chassis/cli/file-changes.ts';
import { overwritten, planModule, writeModule } from '../../../../src/chassis/cli/module/generate-module.ts';

const models = `model Category {
  id   String @id @default(uuid(7)) @db.Uuid
  name String @unique

  @@map("categories")
}
`;
const config = `export const config = {
    modules: [
      { name: 'auth', enabled: true },
    ],
};
`;

/** What a generation sees of a service. */
function aService(): string {
  const root = mkdtempSync(join(tmpdir(), 'slipway-module-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const folder of ['prisma', 'src/modules/shelf']) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'prisma/models.prisma'), models);
  writeFileSync(join(root, 'src/app.config.ts'), config);
  writeFileSync(join(root, 'src/modules/shelf/shelf.schema.ts'), "export const list = listPolicy('Category', {});\n");
  return root;
}

function plan(fields: string[], name = 'order-item', root = aService()) {
  return planModule(root, { name, fields, access: 'public' });
}

describe('a module', () => {
  it('gets a model, and a way back in the models that it refers to', () => {
    const { files } = plan(['number:string!', 'note:text?', 'status:enum(draft|placed)', 'category:ref']);
    const text = files['prisma/models.prisma'] ?? '';
    expect(text).toMatch(/model Category \{[^}]*\n {2}orderItems OrderItem\[\]\n\n {2}@@map/);
    expect(text).toContain('enum OrderItemStatus {\n  draft\n  placed\n}');
    const lines = text
      .split('model OrderItem {')[1]
      ?.split('\n')
      .map((line) => line.trim().replace(/ +/g, ' '));
    expect(lines).toEqual(
      expect.arrayContaining([
        'number String @unique',
        'note String?',
        'status OrderItemStatus',
        'categoryId String @db.Uuid',
        'category Category @relation(fields: [categoryId], references: [id])',
        '@@map("order_items")',
      ]),
    );
  });

  it('names its relations where several lead to one model', () => {
    const text = plan(['from:ref(Category)', 'to:ref(Category)?']).files['prisma/models.prisma'] ?? '';
    expect(text).toContain('orderItemsAsFrom OrderItem[] @relation("orderItem_from")');
    expect(text).toMatch(/to +Category\? +@relation\("orderItem_to", fields: \[toId\]/);
  });

  it('leads its relations to the module that mounts the other model', () => {
    const schema = plan(['category:ref']).files['src/modules/order-item/order-item.schema.ts'];
    expect(schema).toContain("include: { category: policyOf('shelf', 'Category') }");
  });

  it('stands in the configuration', () => {
    expect(plan(['name:string']).files['src/app.config.ts']).toBe(
      config.replace(
        'true },\n    ]',
        "true },\n      { name: 'order-item', enabled: true, routesPrefix: '/api/v1' },\n    ]",
      ),
    );
  });

  it('gets a plural as English has it', () => {
    const pathOf = (name: string) =>
      /'\/api\/v1\/(\S+)'/.exec(plan(['name:string'], name).files[`test/modules/${name}.test.ts`] ?? '')?.[1];
    expect(['city', 'day', 'box', 'branch', 'order-item'].map(pathOf)).toEqual([
      'cities',
      'days',
      'boxes',
      'branches',
      'order-items',
    ]);
  });

  it.each([
    [[], 'at least one field'],
    [['name'], 'a field such as name:string'],
    [['name:strin'], 'one of the types'],
    [['Name:string'], 'a field such as'],
    [['id:string'], 'got id twice'],
    [['name:string', 'name:text'], 'got name twice'],
    [['status:enum()'], 'the values of status'],
    [['owner:ref'], 'Expected a model Owner in prisma/models.prisma, found Category'],
    [['categry:ref'], 'Did you mean Category?'],
  ])('is refused with fields %j: %s', (fields, message) => {
    expect(() => plan(fields)).toThrow(message);
  });

  it.each(['Order', 'order_item', '../order', ''])('is refused with the name "%s"', (name) => {
    expect(() => plan(['name:string'], name)).toThrow('Expected lower-case words joined by "-"');
  });

  it.each(['class', 'constructor', 'default', 'z', 'list-policy'])(
    'is refused with the name "%s", which its code cannot use',
    (name) => {
      expect(() => plan(['name:string'], name)).toThrow(`such as ${name}-item; got "${name}"`);
      expect(() => plan(['name:string'], `${name}-item`)).not.toThrow();
    },
  );

  it('is refused where its model is there, or the list of modules is not', () => {
    expect(() => plan(['name:string'], 'category')).toThrow('found Category');
    const root = aService();
    writeFileSync(join(root, 'src/app.config.ts'), 'export const modules = all();\n');
    expect(() => plan(['name:string'], 'order', root)).toThrow('add the module there by hand');
  });

  it('asks for the scopes of API keys in place of roles where callers have those', () => {
    const request = { name: 'order', fields: ['name:string'], access: 'guarded', scoped: true } as const;
    const { files } = planModule(aService(), request);
    const access = "{ read: auth.scope('read'), write: auth.scope('write') }";
    expect(files['src/modules/order/order.routes.ts']).toContain(access);
    const test = files['test/modules/order.test.ts'];
    expect(test).toContain("const admin = service.as({ scopes: ['write'] });");
    expect(test).not.toContain("as('");
  });

  it('tells which files it would overwrite', () => {
    const root = aService();
    mkdirSync(join(root, 'src/modules/order'), { recursive: true });
    writeFileSync(join(root, 'src/modules/order/di.ts'), '');
    expect(overwritten(root, plan(['name:string'], 'order', root))).toEqual(['src/modules/order/di.ts']);
  });

  it('is written with its migration for each database, or not at all', async () => {
    const root = aService();
    const before = tree(root);
    const work = async () => {
      await writeModule(root, plan(['name:string'], 'order', root));
      throw new Error('too late');
    };
    await expect(allOrNothing(root, work, () => undefined)).rejects.toThrow('too late');
    expect(tree(root)).toEqual(before);
    const written = await writeModule(root, plan(['name:string'], 'order', root));
    expect(written.map((file) => file.replace(/.*migrations\/(\w+)\/\d+/, '$1'))).toEqual([
      'postgresql_add_orders/migration.sql',
      'sqlite_add_orders/migration.sql',
    ]);
    expect(readFileSync(written[0] ?? '', 'utf8')).toContain('CREATE TABLE "orders"');
  });
});

function tree(root: string): unknown[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .map((entry) => [
      join(entry.parentPath, entry.name),
      entry.isFile() ? readFileSync(join(entry.parentPath, entry.name), 'utf8') : '',
    ])
    .sort();
}
