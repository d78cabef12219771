import express, { type RequestHandler } from 'express';
import request from 'supertest';
import { afterAll, expect, it } from 'vitest';
import { runInService, serviceClosed, serviceOpened } from '../../../src/chassis/context/current-service.ts';
import { RecordRoom } from '../../../src/chassis/http/answers/record-room.ts';
import { publicAccess } from '../../../src/chassis/http/pipeline/middleware.ts';
import { createCursorCodec } from '../../../src/chassis/query/paging/cursor.ts';
import { ServicePolicies } from '../../../src/chassis/query/policy/service-policies.ts';
import { ResourceController } from '../../../src/chassis/resource/resource-controller.ts';
import { resourceRouter } from '../../../src/chassis/resource/resource-router.ts';
import { ResourceService } from '../../../src/chassis/resource/resource-service.ts';
import { categorySchemas } from '../../fixtures/service/modules/catalog/catalog.schema.ts';

const room = new RecordRoom({ records: 1, recordBytes: 2560 }, { shed: () => undefined });
const service = { recordRoom: room, policies: new ServicePolicies() } as never;
serviceOpened(service);
afterAll(() => serviceClosed(service));
const ofService: RequestHandler = (_req, _res, next) => runInService(service, next);

/** Notes how many records each answer has room for while it is made. */
class CategoryService extends ResourceService {
  readonly held: number[] = [];
  found: object[] = [];

  override list() {
    this.held.push(room.held);
    return Promise.resolve(this.found);
  }

  override async get() {
    return (await this.list())[0] as never;
  }

  override async paginate() {
    return { data: await this.list(), page: 1, pageSize: 1, total: 0 };
  }
}

class CategoryController extends ResourceController<CategoryService> {
  readonly schemas = categorySchemas as never;
}

function serve() {
  const categories = new CategoryService({ repository: {} as never });
  const cursors = createCursorCodec('a secret of the tests, 32 letters or more');
  const controller = new CategoryController({ service: categories, cursors });
  const router = resourceRouter('/categories', controller, { read: publicAccess });
  return { categories, app: request(express().use(ofService, router)) };
}

it('are made in room for as many records as they may hold, related ones among them', async () => {
  const { categories, app } = serve();
  const include = JSON.stringify({ products: { take: 50, include: { category: true } } });
  for (const path of ['/categories', '/categories/paginated']) {
    await app
      .get(path)
      .query({ include, ...(path === '/categories' ? {} : { pageSize: 20 }) })
      .expect(200);
    await app.get(path).expect(200);
  }
  // So many parents, 50 of their products and the category of each; what has few records takes no room.
  expect(categories.held).toEqual([100 * 101, 0, 20 * 101, 0]);
  expect(room.held).toBe(0);
});

it('are made in room for as many as their length stands for, where answers to the list were long lately', async () => {
  const { categories, app } = serve();
  categories.found = [{ id: 1, name: 'x'.repeat(2_000_000) }];
  for (const pageSize of [10, 10, 2]) await app.get('/categories/paginated').query({ pageSize }).expect(200);
  const [first, second, third] = categories.held;
  expect(first).toBe(0);
  // Five times the length, in records of 2,560 bytes; a little less, as time goes by.
  expect(second).toBeGreaterThan(3600);
  expect(second).toBeLessThan(3920);
  expect(third).toBe(0);
});

it('are made in such room too where they are of one record with related ones', async () => {
  const { categories, app } = serve();
  categories.found = [{ id: 1, name: 'x'.repeat(2_000_000) }];
  const path = `/categories/${crypto.randomUUID()}`;
  for (const include of [{ products: { take: 50 } }, { products: { take: 50 } }, undefined])
    await app
      .get(path)
      .query(include ? { include: JSON.stringify(include) } : {})
      .expect(200);
  const [, second, third] = categories.held;
  expect(second).toBeGreaterThan(3600);
  expect(third).toBe(0);
});
