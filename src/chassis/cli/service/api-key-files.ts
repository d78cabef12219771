/** The module of a service whose callers are programs with API keys, by the names of its files. */
export const apiKeyFiles: Readonly<Record<string, string>> = {
  'api-key.schema.ts': `import { z } from 'slipway';

/** What a key may be good for, as routes name it: auth.scope('write'). */
export const scopes = ['read', 'write'] as const;

export type Scope = (typeof scopes)[number];

const fields = {
  name: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,99}$/)
    .describe('The program that calls with it; several keys of one name are one caller')
    .meta({ examples: ['nightly-import'] }),
  scopes: z.array(z.enum(scopes)).min(1).max(scopes.length),
};
const stored = { id: z.uuid(), ...fields, expiresAt: z.date(), createdAt: z.date() };

export const createApiKey = z
  .object({ ...fields, expiresInDays: z.int().min(1).max(365).default(90) })
  .meta({ id: 'CreateApiKey' });

export const apiKey = z
  .object({ ...stored, lastUsedAt: z.date().nullable().describe('To a minute; null for one that was never used') })
  .meta({ id: 'ApiKey' });

export const newApiKey = z
  .object({ ...stored, key: z.string().describe('To be sent as X-API-Key; it cannot be shown again') })
  .meta({ id: 'NewApiKey' });

export type ApiKey = z.infer<typeof apiKey>;
export type CreateApiKey = z.infer<typeof createApiKey>;
export type NewApiKey = z.infer<typeof newApiKey>;
`,
  'api-key.repository.ts': `import { type ApiKeyStore, Repository, type StoredApiKey } from 'slipway';
import type { ApiKey } from './api-key.schema.ts';

const shown = { id: true, name: true, scopes: true, lastUsedAt: true, expiresAt: true, createdAt: true };

/** The API keys, of which only hashes are stored. */
export class ApiKeyRepository extends Repository<'apiKey'> implements ApiKeyStore {
  protected readonly model = 'apiKey';

  /** The key with this id, and who calls with it. */
  async find(id: string): Promise<StoredApiKey | null> {
    const found = await this.orm.apiKey.findUnique({ where: { id } });
    if (!found) return null;
    const { hash, scopes, expiresAt, name } = found;
    return { hash, scopes: scopes.split(' '), expiresAt, owner: { userId: name, roles: [] } };
  }

  /** Stores when keys were last used, where another replica has not noted a later use. */
  async noteUses(uses: ReadonlyMap<string, Date>): Promise<void> {
    for (const [id, lastUsedAt] of uses) {
      const where = { id, OR: [{ lastUsedAt: null }, { lastUsedAt: { lt: lastUsedAt } }] };
      await this.orm.apiKey.updateMany({ where, data: { lastUsedAt } });
    }
  }

  /** The newest keys, without their hashes. */
  async newest(): Promise<ApiKey[]> {
    const orderBy = [{ createdAt: 'desc' as const }, { id: 'desc' as const }];
    const found = await this.orm.apiKey.findMany({ orderBy, select: shown, take: 1_000 });
    return found.map((key) => ({ ...key, scopes: key.scopes.split(' ') as ApiKey['scopes'] }));
  }

  /** Removes a key. True when there was one. */
  async remove(id: string): Promise<boolean> {
    const { count } = await this.orm.apiKey.deleteMany({ where: { id } });
    return count === 1;
  }
}
`,
  'api-key.provider.ts': `import { ApiKeys } from 'slipway';

/** API keys as a way to show who calls. */
export class ApiKeyProvider extends ApiKeys {
  constructor({ apiKeyRepository }: Pick<Slipway.Cradle, 'apiKeyRepository'>) {
    super(apiKeyRepository);
  }
}
`,
  'api-key.service.ts': `import { NotFoundException } from 'slipway';
import type { ApiKey, CreateApiKey, NewApiKey } from './api-key.schema.ts';

type Dependencies = Pick<Slipway.Cradle, 'apiKeyRepository' | 'apiKeyProvider'>;

const day = 24 * 60 * 60 * 1000;

/** The API keys of programs. */
export class ApiKeyService {
  readonly #keys: Dependencies['apiKeyRepository'];
  readonly #provider: Dependencies['apiKeyProvider'];

  constructor({ apiKeyRepository, apiKeyProvider }: Dependencies) {
    this.#keys = apiKeyRepository;
    this.#provider = apiKeyProvider;
  }

  /** The newest keys, without their secrets. */
  list(): Promise<ApiKey[]> {
    return this.#keys.newest();
  }

  /** Makes a key, which is in this answer and nowhere else. */
  async create({ name, scopes, expiresInDays }: CreateApiKey): Promise<NewApiKey> {
    const { id, key, hash } = this.#provider.create();
    const createdAt = new Date();
    const expiresAt = new Date(createdAt.getTime() + expiresInDays * day);
    const distinct = [...new Set(scopes)];
    await this.#keys.create({ id, name, hash, scopes: distinct.join(' '), expiresAt, createdAt });
    return { id, name, scopes: distinct, expiresAt, createdAt, key };
  }

  /** Ends a key: nothing is written with it any more, and nothing read after a few seconds. @throws NotFoundException */
  async revoke(id: string): Promise<void> {
    if (!(await this.#keys.remove(id))) throw new NotFoundException('API key not found');
    this.#provider.forget(id);
  }
}
`,
  'api-key.controller.ts': `import type { Request, Response } from 'express';
import { NotFoundException, parseBody, sendData, sendNoContent, z } from 'slipway';
import { createApiKey } from './api-key.schema.ts';
import type { ApiKeyService } from './api-key.service.ts';

const uuid = z.uuid();

/** The routes of API keys, for who has AUTH_TOKEN. */
export class ApiKeyController {
  readonly #service: ApiKeyService;

  constructor({ apiKeyService }: Pick<Slipway.Cradle, 'apiKeyService'>) {
    this.#service = apiKeyService;
  }

  /** GET /api-keys: 200 with the keys, without their secrets. */
  async list(_request: Request, response: Response): Promise<void> {
    sendData(response, 200, await this.#service.list());
  }

  /** POST /api-keys: 201 with the new key, which no cache may keep. */
  async create(request: Request, response: Response): Promise<void> {
    const key = await this.#service.create(parseBody(createApiKey, request.body));
    sendData(response.set('Cache-Control', 'no-store'), 201, key);
  }

  /** DELETE /api-keys/:id: 204. */
  async revoke(request: Request<{ id: string }>, response: Response): Promise<void> {
    const { id } = request.params;
    if (!uuid.safeParse(id).success) throw new NotFoundException('API key not found');
    await this.#service.revoke(id);
    sendNoContent(response);
  }
}
`,
  'api-key.routes.ts': `import { Router } from 'express';
import { defineRoutes, handle } from 'slipway';

/**
 * @openapi
 * tags:
 *   - { name: API keys, description: "Keys by which programs call, within some scopes", x-last: true }
 * /api-keys:
 *   tags: [API keys]
 *   get:
 *     operationId: listApiKeys
 *     summary: List the API keys
 *     x-data: [ApiKey]
 *   post:
 *     operationId: createApiKey
 *     summary: Make an API key, which is shown this once
 *     x-body: CreateApiKey
 *     x-data: NewApiKey
 *     responses: { 201: { description: The new key } }
 * /api-keys/{id}:
 *   tags: [API keys]
 *   delete:
 *     operationId: revokeApiKey
 *     summary: Revoke an API key
 *     responses: { 204: { description: Revoked } }
 */
export default defineRoutes(({ apiKeyController, auth }) => {
  const router = Router();
  // No scope is named, so that a key makes no keys.
  router.get('/api-keys', auth.role('admin'), handle(apiKeyController, 'list'));
  router.post('/api-keys', auth.role('admin'), handle(apiKeyController, 'create'));
  router.delete('/api-keys/:id', auth.role('admin'), handle(apiKeyController, 'revoke'));
  return router;
});
`,
  'auth.guard.ts': `import { either, fixedToken, Guards, type Principal } from 'slipway';
import { type Scope, scopes } from './api-key.schema.ts';

/** Who has AUTH_TOKEN: makes keys, and may all that a key may. */
const operator: Principal = { userId: 'operator', roles: new Set(['admin']), scopes: new Set(scopes), via: 'token' };

/** Guards of routes: auth.scope('read'), auth.scope('write') and more. */
export class AuthGuard extends Guards<'admin', Scope> {
  constructor({ apiKeyProvider, settings }: Pick<Slipway.Cradle, 'apiKeyProvider' | 'settings'>) {
    super(either(apiKeyProvider, fixedToken(settings.AUTH_TOKEN, operator)), { roles: ['admin'], scopes });
  }
}
`,
  'di.ts': `import { type Provided, provide } from 'slipway';
import { ApiKeyController } from './api-key.controller.ts';
import { ApiKeyProvider } from './api-key.provider.ts';
import { ApiKeyRepository } from './api-key.repository.ts';
import { ApiKeyService } from './api-key.service.ts';
import { AuthGuard } from './auth.guard.ts';

const dependencies = {
  auth: AuthGuard,
  apiKeyController: ApiKeyController,
  apiKeyProvider: ApiKeyProvider,
  apiKeyRepository: ApiKeyRepository,
  apiKeyService: ApiKeyService,
};

export const registerDependencies = provide(dependencies);

declare global {
  namespace Slipway {
    interface Cradle extends Provided<typeof dependencies> {}
  }
}
`,
};

/** The model of its keys. */
export const apiKeyModel = `
/// A key by which a program calls.
model ApiKey {
  id         String    @id @db.Uuid
  name       String
  hash       String
  scopes     String
  lastUsedAt DateTime? @db.Timestamptz(3)
  expiresAt  DateTime  @db.Timestamptz(3)
  createdAt  DateTime  @default(now()) @db.Timestamptz(3)

  @@index([createdAt, id])
  @@map("api_keys")
}
`;

/** The test of its routes. */
export const apiKeyTest = `import { randomUUID } from 'node:crypto';
import { bootTestService } from 'slipway/testing';
import { describe, expect, it } from 'vitest';

const path = '/auth/api-keys';
const service = await bootTestService();
const operator = service.as('admin');
const body = { name: 'nightly-import', scopes: ['read', 'write'] };
const using = (key: string) => service.send((server) => server.get(path).set('X-API-Key', key));

describe('API keys', () => {
  it('are made by the operator, shown once, and listed without their secrets', async () => {
    const { headers, body: answer } = await operator.post(path, { ...body, expiresInDays: 30 });
    expect(headers['cache-control']).toBe('no-store');
    const { key, ...shown } = answer.data;
    expect(key).toMatch(/^slipway_[0-9a-f]{104}$/);
    expect(shown).toMatchObject(body);
    expect(Date.parse(shown.expiresAt) - Date.parse(shown.createdAt)).toBe(30 * 86_400_000);
    expect(await operator.get(path).expectData()).toContainEqual({ ...shown, lastUsedAt: null });
    expect(await service.count('apiKey', { hash: { contains: key.slice(40, 104) } })).toBe(0);
  });

  it('make no keys', async () => {
    const { key } = await operator.post(path, body).expectData(201);
    await using(key).expectError(403, 'An API key cannot do this');
  });

  it('are good for nothing once they are revoked or have expired', async () => {
    const { id, key } = await operator.post(path, body).expectData(201);
    expect((await operator.delete(\`\${path}/\${id}\`)).status).toBe(204);
    await using(key).expectError(401, /invalid/);
    const old = await operator.post(path, body).expectData(201);
    await service.orm.apiKey.update({ where: { id: old.id }, data: { expiresAt: new Date(0) } });
    await using(old.key).expectError(401, /expired/);
  });

  it('are a secret of the operator', async () => {
    await service.get(path).expectError(401, /Bearer/);
    await service.as('user').post(path, body).expectError(403, /.+/);
  });

  it('refuse what is no key of theirs', async () => {
    await operator.post(path, { ...body, scopes: [] }).expectError(400, 'Validation Failed');
    for (const id of [randomUUID(), 'one']) await operator.delete(\`\${path}/\${id}\`).expectError(404, 'API key not found');
  });
});
`;
