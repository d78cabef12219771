import { type ApiKeyStore, Repository, type StoredApiKey } from 'slipway';
import type { ApiKey } from './api-key.schema.ts';
import { tenantOf } from './caller.context.ts';

const shown = { id: true, name: true, scopes: true, lastUsedAt: true, expiresAt: true, createdAt: true };
const read = {
  hash: true,
  scopes: true,
  expiresAt: true,
  user: { select: { id: true, role: true, organizationId: true } },
};

/** The API keys of all accounts, by hash, with what their owners are now. */
export class ApiKeyRepository extends Repository<'apiKey'> implements ApiKeyStore {
  protected readonly model = 'apiKey';

  /** The key with this id, with the role and the tenant that its owner has now. */
  async find(id: string): Promise<StoredApiKey | null> {
    const found = await this.orm.apiKey.findUnique({ where: { id }, select: read });
    // The ORM reads the user after the key: one deleted in between took the key along.
    if (!found?.user) return null;
    const { user, hash, expiresAt } = found;
    return {
      ...{ hash, expiresAt, scopes: found.scopes.split(' ') },
      owner: { userId: user.id, roles: [user.role], tenantId: tenantOf(user) },
    };
  }

  /** Stores when keys were last used, where another replica has not noted a later use. */
  async noteUses(uses: ReadonlyMap<string, Date>): Promise<void> {
    for (const [id, lastUsedAt] of uses) {
      const where = { id, OR: [{ lastUsedAt: null }, { lastUsedAt: { lt: lastUsedAt } }] };
      await this.orm.apiKey.updateMany({ where, data: { lastUsedAt } });
    }
  }

  /** The keys of a user, the newest first. */
  async findOf(userId: string): Promise<ApiKey[]> {
    const orderBy = [{ createdAt: 'desc' as const }, { id: 'desc' as const }];
    const found = await this.orm.apiKey.findMany({ where: { userId }, orderBy, select: shown, take: 100 });
    return found.map((key) => ({ ...key, scopes: key.scopes.split(' ') as ApiKey['scopes'] }));
  }

  /** Removes those of a user that have expired, and counts the others. */
  async countOf(userId: string): Promise<number> {
    await this.orm.apiKey.deleteMany({ where: { userId, expiresAt: { lt: new Date() } } });
    return this.orm.apiKey.count({ where: { userId } });
  }

  /** Removes all keys of a user, and gives the ids of those that nobody else has removed meanwhile. */
  async removeAll(userId: string): Promise<string[]> {
    const removed: { id: string }[] = await this.orm
      .$queryRaw`DELETE FROM "api_keys" WHERE "userId" = ${userId} RETURNING "id"`;
    return removed.map(({ id }) => id);
  }

  /** Removes a key of a user. True when there was one. */
  async remove(id: string, userId: string): Promise<boolean> {
    const { count } = await this.orm.apiKey.deleteMany({ where: { id, userId } });
    return count === 1;
  }
}
