import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toDatabaseException } from '../../../../src/chassis/database/client/database-errors.ts';
import type { OpenOrm } from '../../../../src/chassis/database/client/orm.ts';
import { databaseProviders, openEmptyDatabase } from '../../../support/empty-database.ts';
import { raised } from '../../../support/raised.ts';

const nobody = '00000000-0000-4000-8000-000000000000';

const product = { sku: 'A', name: 'A', description: '', price: 1 };

/** SQLite takes a CHECK only with a new table. */
async function addPriceCheck(client: OpenOrm['client'], provider: string): Promise<void> {
  if (provider === 'postgresql') {
    await client.$executeRawUnsafe('ALTER TABLE products ADD CHECK (price >= 0)');
    return;
  }
  const [table] = await client.$queryRawUnsafe<{ sql: string }[]>(
    "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = 'products'",
  );
  const sql = table?.sql.replace('"price" INTEGER NOT NULL', '"price" INTEGER NOT NULL CHECK ("price" >= 0)') ?? '';
  expect(sql).toContain('CHECK');
  await client.$executeRawUnsafe('DROP TABLE products');
  await client.$executeRawUnsafe(sql);
}

describe.each(databaseProviders)('errors of %s', (provider) => {
  let open: OpenOrm;
  let categoryId: string;

  beforeAll(async () => {
    open = await openEmptyDatabase(provider);
    ({ id: categoryId } = await open.client.category.create({ data: { name: 'Books' } }));
    await open.client.product.create({ data: { ...product, categoryId } });
  });

  afterAll(() => open.close());

  it('turns a duplicate into a ConflictException that names the field but not its value', async () => {
    const error = await raised(() => open.client.category.create({ data: { name: 'Books' } }));
    expect(error).toMatchObject({ name: 'ConflictException', statusCode: 409, details: { fields: ['name'] } });
    expect(error.message).toBe('Another category has this name already');
    expect(error.cause).toMatchObject({ code: 'P2002' });
    const sku = await raised(() => open.client.product.createMany({ data: [{ ...product, categoryId }] }));
    expect(sku).toMatchObject({ statusCode: 409, message: 'Another product has this sku already' });
  });

  it('turns a duplicate in raw SQL into a ConflictException', async () => {
    const sql = `INSERT INTO categories ("id", "name", "updatedAt") VALUES ('${nobody}', 'Books', CURRENT_TIMESTAMP)`;
    const error = await raised(() => open.client.$executeRawUnsafe(sql));
    expect(error).toMatchObject({ statusCode: 409, details: { fields: ['name'] } });
  });

  it('turns an update or a delete of a missing record into a NotFoundException', async () => {
    const update = await raised(() => open.client.product.update({ where: { id: nobody }, data: { name: 'x' } }));
    expect(update).toMatchObject({ name: 'NotFoundException', statusCode: 404, message: 'Product not found' });
    const remove = await raised(() => open.client.auditEvent.delete({ where: { id: nobody } }));
    expect(remove).toMatchObject({ statusCode: 404, message: 'Audit event not found' });
    const find = await raised(() => open.client.product.findUniqueOrThrow({ where: { id: nobody } }));
    expect(find).toMatchObject({ statusCode: 404 });
  });

  it.runIf(provider === 'postgresql')('turns an identifier that is no UUID into a BadRequestException', async () => {
    const error = await raised(() => open.client.product.findUnique({ where: { id: 'abc' } }));
    expect(error).toMatchObject({ name: 'BadRequestException', statusCode: 400 });
  });

  it('turns a missing record that another is to be related to into a ConflictException that names the relation', async () => {
    const { category, product: products } = open.client;
    const connect = { id: nobody };
    const one = () => products.create({ data: { ...product, sku: 'C', category: { connect } } });
    const change = () => products.update({ where: { sku: 'A' }, data: { category: { connect } } });
    for (const write of [one, change]) {
      expect(await raised(write)).toMatchObject({ statusCode: 409, details: { fields: ['category'] } });
    }
    const many = await raised(() => category.create({ data: { name: 'Maps', products: { connect: [connect] } } }));
    expect(many).toMatchObject({ statusCode: 409, details: { fields: ['products'] } });
    expect(many.message).toBe('A record that this category refers to does not exist');
    const parent = () => category.update({ where: connect, data: { products: { create: { ...product, sku: 'D' } } } });
    expect(await raised(parent)).toMatchObject({ statusCode: 404, message: 'Category not found' });
  });

  it('turns a reference to a missing record into a ConflictException', async () => {
    const data = { ...product, sku: 'B', categoryId: nobody };
    const error = await raised(() => open.client.product.create({ data }));
    expect(error).toMatchObject({ name: 'ConflictException', statusCode: 409 });
    expect(error.message).toBe('A record that this product refers to does not exist');
    if (provider === 'postgresql') expect(error.details).toEqual({ fields: ['categoryId'] });
  });

  it('turns the delete of a record that others refer to into a ConflictException', async () => {
    const error = await raised(() => open.client.category.delete({ where: { id: categoryId } }));
    expect(error).toMatchObject({ name: 'ConflictException', statusCode: 409 });
    expect(error.message).toBe('Other records still refer to this category');
    const many = await raised(() => open.client.category.deleteMany());
    expect(many).toMatchObject({ statusCode: 409, message: 'Other records still refer to this category' });
  });

  it('turns arguments that do not fit the models into a 500 that monitors hear of, without their values', async () => {
    const attempts: (() => Promise<unknown>)[] = [
      () => open.client.product.findMany({ where: { nothing: 'secret value' } as object }),
      () => open.client.product.create({ data: { ...product, sku: 'B', price: 'secret value', categoryId } as never }),
    ];
    for (const attempt of attempts) {
      const error = await raised(attempt);
      expect(error).toMatchObject({ name: 'InternalServerErrorException', statusCode: 500, isOperational: false });
      expect(error.message).toMatch(/^A query does not fit the models: .*(nothing|price)/);
      expect(error.message).not.toContain('secret value');
      expect(error.cause).toBeInstanceOf(Error);
    }
  });

  it('refuse a value that a column cannot hold with a ValidationException of its field', async () => {
    const data = { ...product, sku: 'B', price: 2 ** 40, categoryId };
    const error = await raised(() => open.client.product.create({ data }));
    expect(error).toMatchObject({ name: 'ValidationException', statusCode: 400 });
    expect(error.details).toEqual({
      errors: { price: [expect.stringMatching(/^Expected an integer from -2147483648/)] },
    });
  });

  it('turns values that break a rule of the database into a ConflictException without them', async () => {
    await open.client.$executeRawUnsafe('CREATE TABLE limited (amount INTEGER CHECK (amount > 0))');
    const error = await raised(() => open.client.$executeRawUnsafe('INSERT INTO limited VALUES (-4711)'));
    expect(error).toMatchObject({ name: 'ConflictException', statusCode: 409 });
    expect(error.message).toBe('The values of this record break a rule of the database');
  });

  it('turns a record of a model that breaks a CHECK of its table into a ConflictException, created or changed', async () => {
    const checked = await openEmptyDatabase(provider);
    try {
      await addPriceCheck(checked.client, provider);
      const { id } = await checked.client.category.create({ data: { name: 'Books' } });
      const create = (price: number) => checked.client.product.create({ data: { ...product, price, categoryId: id } });
      const broken = { statusCode: 409, message: 'The values of this product break a rule of the database' };
      expect(await raised(() => create(-1))).toMatchObject(broken);
      await create(1);
      const change = () => checked.client.product.update({ where: { sku: 'A' }, data: { price: -1 } });
      expect(await raised(change)).toMatchObject(broken);
      expect(await checked.client.product.findMany({ select: { price: true } })).toEqual([{ price: 1 }]);
    } finally {
      await checked.close();
    }
  });

  it('turns a text with a NUL character, which it cannot hold, into a BadRequestException', async () => {
    const invalid = { name: 'BadRequestException', statusCode: 400, message: 'Invalid request data' };
    const data = { ...product, sku: 'a\0b', categoryId };
    expect(await raised(() => open.client.product.create({ data }))).toMatchObject(invalid);
    expect(await raised(() => open.client.product.findUnique({ where: { sku: 'A\0' } }))).toMatchObject(invalid);
    const inTransaction = () => open.client.$transaction((transaction) => transaction.product.create({ data }));
    expect(await raised(inTransaction)).toMatchObject(invalid);
  });

  it('turns a transaction that takes too long into a DatabaseUnavailableException', async () => {
    const error = await raised(() =>
      open.client.$transaction(
        async (transaction) => {
          // A query on SQLite never leaves the event loop, so its timers get their turn here.
          while (true) await Promise.all([transaction.product.count(), setImmediate()]);
        },
        { timeout: 30 },
      ),
    );
    expect(error).toMatchObject({ statusCode: 503, headers: { 'Retry-After': '1' } });
  });

  it('turns a failed statement into a DatabaseException with the error as its cause', async () => {
    const error = await raised(() => open.client.$queryRawUnsafe('SELECT * FROM nowhere'));
    expect(error).toMatchObject({ name: 'DatabaseException', statusCode: 500, isOperational: true });
    expect(error.message).toBe('Database Operation Failed: $queryRawUnsafe');
    expect(error).toMatchObject({ context: { operation: '$queryRawUnsafe' } });
    expect(error.cause).toMatchObject({ code: 'P2010' });
  });

  it('says which operation of which model failed', () => {
    const error = toDatabaseException(new Error('disk I/O error'), { model: 'Product', operation: 'findMany' });
    expect(error).toMatchObject({
      message: 'Database Operation Failed: findMany of Product',
      context: { model: 'Product', operation: 'findMany' },
    });
  });

  it('leaves what the program itself raises in a transaction as it is', async () => {
    const own = new RangeError('mine');
    const error = await raised(() => open.client.$transaction(() => Promise.reject(own)));
    expect(error).toBe(own);
    expect(toDatabaseException(own)).toBeUndefined();
    expect(
      toDatabaseException(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })),
    ).toBeUndefined();
    for (const value of [null, undefined, 'text', 1, {}]) expect(toDatabaseException(value)).toBeUndefined();
  });
});
