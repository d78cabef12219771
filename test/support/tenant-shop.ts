import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import express, { type Express, type RequestHandler } from 'express';
import { z } from 'zod';
import { generateClients } from '../../src/chassis/cli/generate-clients.ts';
import type { Principal } from '../../src/chassis/context/principal.ts';
import { setPrincipal } from '../../src/chassis/context/request-context.ts';
import { unscoped } from '../../src/chassis/context/run-as.ts';
import type { DatabaseProvider } from '../../src/chassis/database/client/database-url.ts';
import { type DatabaseSettings, type OpenOrm, openDatabase } from '../../src/chassis/database/client/orm.ts';
import { applyMigrations } from '../../src/chassis/database/migrations/apply-migrations.ts';
import { createMigration } from '../../src/chassis/database/migrations/create-migration.ts';
import { Repository } from '../../src/chassis/database/repository.ts';
import { logReporter } from '../../src/chassis/errors/reporters/log-reporter.ts';
import { errorHandler } from '../../src/chassis/http/answers/error-handler.ts';
import { bodyParser } from '../../src/chassis/http/bodies/body-parser.ts';
import { requestPipeline } from '../../src/chassis/http/pipeline/request-pipeline.ts';
import { createCursorCodec } from '../../src/chassis/query/paging/cursor.ts';
import { ResourceController } from '../../src/chassis/resource/resource-controller.ts';
import { resourceRouter } from '../../src/chassis/resource/resource-router.ts';
import type { ResourceSchemas } from '../../src/chassis/resource/resource-schemas.ts';
import { ResourceService } from '../../src/chassis/resource/resource-service.ts';
import { memoryLog } from '../chassis/http/bare-app.ts';
import { emptyDatabase } from './empty-database.ts';
import { shopLists } from './tenant-lists.ts';

const root = join(import.meta.dirname, '../..');
const models = join(root, 'test/fixtures/tenants/models.prisma');
const cursors = createCursorCodec('a secret of the tests that is long enough');

// The compiler knows the service's own models, not those of the fixture.
const of = (model: string) => model as 'product';

export class OrderRepository extends Repository<'product'> {
  protected readonly model = of('order');
  protected override scope = ({ tenantId, userId, roles }: Principal) =>
    ({
      tenantId,
      ...(!roles.has('admin') && { ownerId: userId }),
      ...(roles.has('newcomer') && { secret: null, reviewerId: null }),
    }) as object;
  protected override readonly softDelete = 'deletedAt' as 'sku';
  protected override readonly version = 'version' as 'sku';
  protected override readonly authors = { created: 'createdBy' as 'sku', updated: 'updatedBy' as 'sku' };

  /** What a module's own method may do on the client. */
  // biome-ignore lint/suspicious/noExplicitAny: a client of other models than the service's
  get own(): any {
    return this.orm;
  }
}
export class CustomerRepository extends Repository<'product'> {
  protected readonly model = of('customer');
  protected override scope = ({ tenantId }: Principal) => ({ tenantId }) as object;
}
export class LineRepository extends Repository<'product'> {
  protected readonly model = of('line');
  protected override scope = ({ tenantId }: Principal) => ({ order: { tenantId } }) as object;
}
export class TagRepository extends Repository<'product'> {
  protected readonly model = of('tag');
  protected override scope = ({ tenantId }: Principal) => ({ tenantId: { equals: tenantId } }) as object;
  protected override readonly version = 'updatedAt';
}
export class ReviewerRepository extends Repository<'product'> {
  protected readonly model = of('reviewer');
  protected override readonly softDelete = 'deletedAt' as 'sku';
}
/** A scope that is more than fixed values: notes above level 5 are for others. */
export class NoteRepository extends Repository<'product'> {
  protected readonly model = of('note');
  protected override scope = ({ tenantId }: Principal) => ({ firmId: tenantId, level: { lte: 5 } }) as object;
  protected override readonly authors = { created: 'createdById' as 'sku', updated: 'updatedById' as 'sku' };

  // biome-ignore lint/suspicious/noExplicitAny: a client of other models than the service's
  get own(): any {
    return this.orm;
  }
}
export class ForgottenRepository extends Repository<'product'> {
  protected readonly model = of('forgotten');
}

/** A caller: `a` and `b` are administrators of their tenants. */
export function aCaller(tenantId: string | undefined, userId = `${tenantId}-admin`, ...roles: string[]): Principal {
  return { userId, tenantId, roles: new Set(roles.length > 0 ? roles : ['admin']), scopes: new Set() };
}

/** A service of two tenants on a database of its own. */
export interface TenantShop {
  readonly app: Express;
  readonly open: OpenOrm;
  readonly orders: OrderRepository;
  readonly customers: CustomerRepository;
  readonly lines: LineRepository;
  readonly tags: TagRepository;
  readonly reviewers: ReviewerRepository;
  readonly notes: NoteRepository;
  readonly forgotten: ForgottenRepository;
  /** The client, for what a test looks up or stores beyond any scope. */
  // biome-ignore lint/suspicious/noExplicitAny: a client of other models than the service's
  all<T>(work: (client: any) => PromiseLike<T>): Promise<T>;
  /** The same service on the same database, of which the ORM makes every answer. */
  byOrm(): Promise<TenantShop>;
  close(): Promise<void>;
}

/** Who calls says so in a header, as `tenant user role`; without it nobody does. */
const guard: RequestHandler = (request, _response, next) => {
  const [tenantId, userId, ...roles] = String(request.headers['x-caller'] ?? '').split(' ');
  if (userId) setPrincipal(aCaller(tenantId, userId, ...roles));
  next();
};

/** Generates the clients of the fixture's models once for a test file. `remove` takes all of it away. */
export async function tenantModels() {
  mkdirSync(join(root, '.cache'), { recursive: true });
  // Within the project, because generated clients import its packages.
  const directory = mkdtempSync(join(root, '.cache/tenants-'));
  generateClients({ models, directory });
  await createMigration('all', { models, directory: join(directory, 'migrations') });
  return {
    remove: () => rmSync(directory, { recursive: true }),
    async open(provider: DatabaseProvider, reads: 'json' | 'orm' = 'json'): Promise<TenantShop> {
      const { settings, remove } = await emptyDatabase(provider, { DATABASE_JSON_READS: reads === 'json' });
      await applyMigrations(settings, join(directory, 'migrations'));
      const shop = await openShop(settings, directory);
      const close = async () => {
        await shop.close();
        await remove();
      };
      return { ...shop, close };
    },
  };
}

async function openShop(settings: DatabaseSettings, clients: string): Promise<TenantShop> {
  const open = await openDatabase(settings, { clients });
  const orm = { orm: open.client };
  const repositories = {
    orders: new OrderRepository(orm),
    customers: new CustomerRepository(orm),
    lines: new LineRepository(orm),
    tags: new TagRepository(orm),
    reviewers: new ReviewerRepository(orm),
    notes: new NoteRepository(orm),
    forgotten: new ForgottenRepository(orm),
  };
  return {
    ...repositories,
    app: appOf(repositories),
    open,
    all: (work) => unscoped('a test looks at all rows', async () => work(open.client)),
    byOrm: () => openShop({ ...settings, DATABASE_JSON_READS: false }, clients),
    close: () => open.close(),
  };
}

function appOf(repositories: Record<string, Repository<'product'>>): Express {
  const app = express().use(requestPipeline(), bodyParser({ limitBytes: 10_000 }), guard);
  for (const [path, list] of Object.entries(shopLists)) {
    const { id: _id, createdBy: _created, updatedBy: _updated, version: _version, ...shape } = list.record.shape;
    const create = z.object(shape);
    const schemas = { record: list.record, create: create.extend(extras).partial(), update: create.partial(), list };
    class Controller extends ResourceController {
      readonly schemas = schemas as unknown as ResourceSchemas;
    }
    const repository = repositories[path.slice(1)] as Repository<'product'>;
    const controller = new Controller({ service: new ResourceService({ repository }), cursors });
    app.use(resourceRouter(path, controller, { read: passes, write: passes, patch: true }));
    if (controller.versioned) {
      app.use(resourceRouter(`/strict${path}`, controller, { write: passes, requireVersion: true }));
    }
  }
  const { logger } = memoryLog();
  return app.use(errorHandler({ production: false, reporters: [logReporter(logger)], logger }));
}

/** What a body may name beside the fields of the record. */
const extras = { tenantId: z.string() };
const passes: RequestHandler = (_request, _response, next) => next();

/** Removes all rows. */
export async function emptyShop({ all }: TenantShop): Promise<void> {
  await all(async (client) => {
    for (const model of ['note', 'firm', 'person', 'line', 'order', 'customer', 'tag', 'reviewer', 'change'])
      await client[model].deleteMany();
  });
}

/** Rows of tenants `a` and `b`, whose every text names its tenant; customer, order and line ids are in hundreds of their own. */
export async function fillShop({ all }: TenantShop): Promise<void> {
  await all(async (client) => {
    await client.reviewer.createMany({
      data: [
        { id: 1, name: 'rita' },
        { id: 2, name: 'gone', deletedAt: new Date() },
      ],
    });
    for (const id of ['a', 'b']) {
      await client.firm.create({ data: { id, name: id } });
      await client.person.create({ data: { id: `${id}-admin`, name: id } });
    }
    for (const [tenantId, base] of [
      ['a', 100],
      ['b', 200],
    ] as const) {
      const of = (what: string) => `${tenantId}-${what}`.repeat(2);
      for (const n of [1, 2])
        await client.customer.create({ data: { id: base + n, tenantId, name: of(`customer${n}`) } });
      await client.tag.create({ data: { id: base + 1, tenantId, name: of('tag') } });
      for (const n of [1, 2, 3, 4, 5]) {
        await client.order.create({
          data: {
            ...{ id: base + n, tenantId, number: of(`order${n}`), status: n % 2 ? 'draft' : 'placed' },
            ...{ ownerId: n === 1 ? `${tenantId}-user` : `${tenantId}-admin`, secret: of('secret') },
            ...{ customerId: base + (n % 2) + 1, reviewerId: n < 4 ? (n % 2) + 1 : null },
            ...{ deletedAt: n === 5 ? new Date() : null, tags: { connect: [{ id: base + 1 }] } },
            lines: { create: [{ id: base + 10 * n, label: of(`line${n}`) }] },
          },
        });
      }
      // A row that another tenant's refers to, as a fault of another program would leave it.
      const other = tenantId === 'a' ? 200 : 100;
      if (tenantId === 'b') {
        await client.order.update({
          where: { id: 204 },
          data: { customerId: other + 1, tags: { connect: [{ id: other + 1 }] } },
        });
        await client.order.update({ where: { id: 104 }, data: { customerId: 202, tags: { connect: [{ id: 201 }] } } });
      }
    }
  });
}
