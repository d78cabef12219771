import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import express, { type Express } from 'express';
import { z } from 'zod';
import { generateClients } from '../../../src/chassis/cli/generate-clients.ts';
import type { DatabaseCounts } from '../../../src/chassis/database/client/current-work.ts';
import type { DatabaseProvider } from '../../../src/chassis/database/client/database-url.ts';
import { type OpenOrm, openDatabase } from '../../../src/chassis/database/client/orm.ts';
import { applyMigrations } from '../../../src/chassis/database/migrations/apply-migrations.ts';
import { createMigration } from '../../../src/chassis/database/migrations/create-migration.ts';
import { Repository } from '../../../src/chassis/database/repository.ts';
import { errorHandler } from '../../../src/chassis/http/answers/error-handler.ts';
import { publicAccess } from '../../../src/chassis/http/pipeline/middleware.ts';
import { createCursorCodec } from '../../../src/chassis/query/paging/cursor.ts';
import { dateTime, decimal, int64 } from '../../../src/chassis/query/policy/field-types.ts';
import { many } from '../../../src/chassis/query/policy/list-definition.ts';
import { type AnyListPolicy, ListPolicy } from '../../../src/chassis/query/policy/list-policy.ts';
import { ResourceController } from '../../../src/chassis/resource/resource-controller.ts';
import { resourceRouter } from '../../../src/chassis/resource/resource-router.ts';
import type { ResourceSchemas } from '../../../src/chassis/resource/resource-schemas.ts';
import { ResourceService } from '../../../src/chassis/resource/resource-service.ts';
import { emptyDatabase } from '../../support/empty-database.ts';
import { memoryLog } from '../http/bare-app.ts';

const root = join(import.meta.dirname, '../../..');
const models = join(root, 'test/fixtures/every-type/models.prisma');
const size = z.enum(['small', 'medium', 'large', 'giant']);

const gadget = z.object({
  id: z.uuid(),
  tenant: z.int32(),
  number: z.int32(),
  name: z.string().max(100),
  size,
  mood: size.nullable(),
  price: decimal(),
  weight: decimal().nullable(),
  stock: int64(),
  seen: int64().nullable(),
  data: z.json().meta({ format: 'json' }),
  extra: z.array(z.int()).nullable(),
  madeAt: dateTime(),
  soldAt: dateTime().nullable(),
  active: z.boolean().nullable(),
  rating: z.number().nullable(),
  makerId: z.int32().nullable(),
});
const maker = z.object({ id: z.int32(), name: z.string(), size });
const tag = z.object({ id: int64(), name: z.string() });
const part = z.object({ id: z.int32(), label: z.string(), tenant: z.int32(), number: z.int32() });

const ordered = ['equals', 'not', 'in', 'notIn', 'gt', 'gte', 'lt', 'lte'];
const listed = ['equals', 'not', 'in', 'notIn'];

/** Every field that may be sorted by. */
export const gadgetSorts = [
  ...[
    'id',
    'number',
    'name',
    'size',
    'mood',
    'price',
    'weight',
    'stock',
    'seen',
    'madeAt',
    'soldAt',
    'active',
    'rating',
  ],
  // A gadget may have no maker, and its name then neither.
  ...['makerId', 'tenant', 'maker.name', 'maker.size'],
];

export const gadgetList: AnyListPolicy = new ListPolicy('Gadget', {
  record: gadget,
  filter: {
    ...{ id: ordered, tenant: ordered, number: ordered, name: [...ordered, 'contains'], size: listed, mood: listed },
    ...{
      price: ordered,
      weight: ordered,
      stock: ordered,
      seen: ordered,
      data: ['equals', 'not'],
      extra: ['equals', 'not'],
    },
    ...{ madeAt: ordered, soldAt: ordered, active: ['equals', 'not'], rating: ordered },
    ...{ maker: () => makerList, tags: many(() => tagList), parts: many(() => partList) },
  },
  sort: gadgetSorts,
  include: { maker: () => makerList, tags: many(() => tagList), parts: many(() => partList) },
});
export const makerList: AnyListPolicy = new ListPolicy('Maker', {
  record: maker,
  filter: { id: listed, size: listed },
  sort: ['id', 'name', 'size'],
});
export const tagList: AnyListPolicy = new ListPolicy('Tag', {
  record: tag,
  filter: { id: ordered, name: ['equals', 'contains'] },
  sort: ['id', 'name'],
  include: { gadgets: many(() => gadgetList) },
});
export const partList: AnyListPolicy = new ListPolicy('Part', {
  record: part,
  filter: { label: listed },
  sort: ['label', 'gadget.size', 'gadget.price'],
  include: { gadget: () => gadgetList },
});

/** Paths of records, by identifiers of each type, and their status. */
export const addressedRecords: [string, number][] = [
  ['/makers/1', 200],
  ['/makers/999', 404],
  ['/makers/abc', 404],
  ['/makers/01', 404],
  ['/makers/99999999999', 404],
  ['/tags/2', 200],
  ['/tags/02', 404],
  ['/tags/-0', 404],
  ['/tags/9223372036854775807', 404],
  ['/tags/9223372036854775808', 404],
  ['/tags/1.5', 404],
  ['/gadgets/12', 404],
];

/** An app with the repositories, services and routes of the fixture's models. */
function appOn(orm: never): Express {
  const app = express().use(express.json());
  const resources: [string, string, AnyListPolicy][] = [
    ['gadget', '/gadgets', gadgetList],
    ['maker', '/makers', makerList],
    ['tag', '/tags', tagList],
    ['part', '/parts', partList],
  ];
  for (const [model, path, list] of resources) {
    const create = list.record.omit({ id: true }) as z.ZodObject;
    const schemas = { record: list.record, create, update: create.partial(), list } as unknown as ResourceSchemas;
    class Records extends Repository<'product'> {
      protected readonly model = model as 'product';
    }
    class Controller extends ResourceController {
      readonly schemas = schemas;
    }
    const service = new ResourceService({ repository: new Records({ orm }) });
    const controller = new Controller({
      service,
      cursors: createCursorCodec('a secret of the tests that is long enough'),
    });
    app.use(resourceRouter(path, controller, { read: publicAccess, write: publicAccess }));
  }
  return app.use(errorHandler({ production: false, reporters: [], logger: memoryLog().logger }));
}

/** An app with resources of models of every type, and its database, whose client is generated for the test. */
export interface EveryTypeApp {
  app: Express;
  // biome-ignore lint/suspicious/noExplicitAny: a client of other models than the service's
  client: any;
  /** The same database once more, read as JSON that it makes. */
  openReader(counts: DatabaseCounts): Promise<OpenOrm>;
  /** The same once more, with the ORM reading all that it can. */
  byOrm(): Promise<{ app: Express; close(): Promise<void> }>;
}

/** Generates the clients of the fixture's models, and makes their migrations. `remove` takes all of it away. */
export async function everyTypeModels() {
  mkdirSync(join(root, '.cache'), { recursive: true });
  // Within the project, because generated clients import its packages.
  const directory = mkdtempSync(join(root, '.cache/every-type-'));
  generateClients({ models, directory });
  await createMigration('all', { models, directory: join(directory, 'migrations') });
  return {
    async open(
      provider: DatabaseProvider,
      reads: 'json' | 'orm' = 'json',
    ): Promise<EveryTypeApp & { close(): Promise<void> }> {
      const { settings, remove } = await emptyDatabase(provider, { DATABASE_JSON_READS: reads === 'json' });
      await applyMigrations(settings, join(directory, 'migrations'));
      const { client, close } = await openDatabase(settings, { clients: directory });
      const app = appOn(client as never);
      const closeAll = async () => {
        await close();
        await remove();
      };
      const openReader = (counts: DatabaseCounts) =>
        openDatabase({ ...settings, DATABASE_JSON_READS: true }, { clients: directory, counts });
      const byOrm = async () => {
        const other = await openDatabase({ ...settings, DATABASE_JSON_READS: false }, { clients: directory });
        return { app: appOn(other.client as never), close: other.close };
      };
      return { app, client, openReader, byOrm, close: closeAll };
    },
    remove: () => rmSync(directory, { recursive: true }),
  };
}
