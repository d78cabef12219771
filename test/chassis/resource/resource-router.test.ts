import express, { type RequestHandler } from 'express';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { errorHandler } from '../../../src/chassis/http/answers/error-handler.ts';
import { publicAccess } from '../../../src/chassis/http/pipeline/middleware.ts';
import { createCursorCodec } from '../../../src/chassis/query/paging/cursor.ts';
import { ResourceController } from '../../../src/chassis/resource/resource-controller.ts';
import { type ResourceAccess, resourceRouter } from '../../../src/chassis/resource/resource-router.ts';
import { ResourceService } from '../../../src/chassis/resource/resource-service.ts';
import { categorySchemas } from '../../fixtures/service/modules/catalog/catalog.schema.ts';
import { memoryLog } from '../http/bare-app.ts';

const id = '01900000-0000-7000-8000-000000000000';

/** Answers with more than the record, as a careless service would. */
class CarelessService extends ResourceService {
  override create(_input: unknown): Promise<object> {
    return Promise.resolve({ id, name: 'Audio', passwordHash: 'secret' });
  }

  override update(_id: string, input: unknown): Promise<object> {
    return this.create(input);
  }
}

class CategoryController extends ResourceController<CarelessService> {
  readonly schemas = categorySchemas;
}

/** What the compiler refuses of a controller's schemas. */
const mistakes: Partial<ResourceController<Slipway.Cradle['groupService']>['schemas']>[] = [
  // @ts-expect-error the service's create needs a name
  { create: categorySchemas.update },
  // @ts-expect-error a name is text
  { create: z.object({ name: z.number() }) },
  // @ts-expect-error a name is text
  { update: z.object({ name: z.number() }) },
];

function appWith(access: ResourceAccess) {
  const service = new CarelessService({ repository: {} as never });
  const controller = new CategoryController({
    service,
    cursors: createCursorCodec('a secret of the tests, 32 letters or more'),
  });
  const app = express().use(express.json());
  app.use(resourceRouter('/categories', controller, access));
  app.use(errorHandler({ logger: memoryLog().logger, production: false, reporters: [] }));
  return request(app);
}

describe('resourceRouter', () => {
  it('takes at compile time only schemas that give what the service wants', () => {
    expect(mistakes).toHaveLength(3);
  });

  it('mounts no route of a group that is left out', async () => {
    expect((await appWith({ read: publicAccess }).post('/categories').send({ name: 'x' })).status).toBe(404);
    expect((await appWith({ write: publicAccess }).get('/categories')).status).toBe(404);
    expect((await appWith({}).get('/categories/1')).status).toBe(404);
  });

  it.each(['list', 'get', 'create', 'update', 'delete'] as const)(
    'lets each operation say who may call it, and mounts only those that do: %s',
    async (operation) => {
      const calls = {
        list: ['get', '/categories'],
        get: ['get', `/categories/${id}`],
        create: ['post', '/categories'],
        update: ['put', `/categories/${id}`],
        delete: ['delete', `/categories/${id}`],
      } as const;
      const refuse: RequestHandler = (_request, response) => void response.status(418).end();
      const statuses = async (access: ResourceAccess) => {
        const app = appWith(access);
        const answers = Object.entries(calls).map(async ([name, [method, path]]) => [
          name,
          (await app[method](path)).status,
        ]);
        return Object.fromEntries(await Promise.all(answers));
      };
      const only = await statuses({ [operation]: refuse, patch: true });
      expect(only).toEqual({ list: 404, get: 404, create: 404, update: 404, delete: 404, [operation]: 418 });
      const others = await statuses({ read: refuse, write: refuse, [operation]: publicAccess });
      expect(Object.entries(others).filter(([, status]) => status !== 418)).toEqual([[operation, expect.any(Number)]]);
    },
  );

  it.each([
    ['post', '/categories', 201],
    ['put', `/categories/${id}`, 200],
  ] as const)('lets only fields of the record leave: %s', async (method, path, status) => {
    const { body, status: actual } = await appWith({ write: publicAccess })[method](path).send({ name: 'Audio' });
    expect(actual).toBe(status);
    expect(body.data).toEqual({ id, name: 'Audio' });
  });
});
