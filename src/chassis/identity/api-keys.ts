import { timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import { currentService } from '../context/current-service.ts';
import type { Principal } from '../context/principal.ts';
import { UnauthorizedException } from '../errors/exceptions.ts';
import { hashApiKey, idOfApiKey, type NewApiKey, newApiKey } from './api-key-text.ts';
import type { IdentityDemand, IdentityProvider } from './identity-provider.ts';
import { KeyUses } from './key-uses.ts';

/** A key as a service's own table holds it, with what its owner is now. */
export interface StoredApiKey {
  readonly hash: string;
  readonly scopes: readonly string[];
  /** Null for a key that does not expire. */
  readonly expiresAt: Date | null;
  /** Who the key acts as. Its roles are those of now, so that a key never has more than its owner. */
  readonly owner: Pick<Principal, 'userId' | 'tenantId'> & { readonly roles: Iterable<string> };
}

/** Where the keys of a service are. */
export interface ApiKeyStore {
  /** The key with this id, a UUID; null or undefined where there is none or it was revoked. */
  find(id: string): Promise<StoredApiKey | null | undefined>;
  /**
   * Notes when keys were last used, by id; called once a minute at most, outside of requests. Another replica may have noted
   * a later use, which is to stay.
   */
  noteUses(uses: ReadonlyMap<string, Date>): Promise<void>;
}

/** How keys look and how long what is known of them counts. */
export interface ApiKeyOptions {
  /** What keys begin with, for scanners that look for secrets; letters and digits. Default `slipway`. */
  prefix?: string;
  /** How long a read goes by what was looked up before, in seconds. Default 10; requests that write always ask. */
  cacheSeconds?: number;
  /** How often last uses are stored, in seconds. Default 60. */
  noteSeconds?: number;
}

interface Known {
  readonly id: string;
  readonly principal: Principal;
  readonly expiresAt: number;
  /** By `Date.now()`. */
  readonly until: number;
}

const header = 'x-api-key';
const reads: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const mostKnown = 1_000;

/**
 * API keys in `X-API-Key`, for programs that act as their owner within some scopes. A key is random, stored as a hash, and
 * compared in constant time. Guards let it through where they name a scope of it, and nowhere else.
 *
 * A key that was revoked, has expired or lost its owner writes nothing from then on; reads on other replicas end within
 * `cacheSeconds`, on this one at once when `forget` is told.
 */
export class ApiKeys implements IdentityProvider {
  readonly schemes = {
    apiKey: {
      document: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      expects: 'the header X-API-Key: <API key>',
      challenge: 'ApiKey',
      limited: true,
    },
  } as const;
  readonly #store: ApiKeyStore;
  readonly #prefix: string;
  readonly #cacheMs: number;
  readonly #uses: KeyUses;
  /** By hash, so that no key is kept. */
  readonly #known = new Map<string, Known>();
  #revocations = 0;

  /** To be made by the container of a service. @throws Error for a prefix that is not letters and digits */
  constructor(store: ApiKeyStore, { prefix = 'slipway', cacheSeconds = 10, noteSeconds = 60 }: ApiKeyOptions = {}) {
    if (!/^[a-z][a-z0-9]{1,19}$/i.test(prefix)) {
      throw new Error(`Expected a prefix of API keys of 2 to 20 letters and digits, found ${JSON.stringify(prefix)}.`);
    }
    const { closers, logger } = currentService();
    this.#store = store;
    this.#prefix = prefix;
    this.#cacheMs = cacheSeconds * 1000;
    this.#uses = new KeyUses(store, noteSeconds * 1000, logger);
    closers.add('last uses of API keys', () => this.#uses.close());
  }

  /** A new key, whose id and hash are to be stored and whose text only its owner ever sees. */
  create(): NewApiKey {
    return newApiKey(this.#prefix);
  }

  /** Has a key that was revoked end on this replica at once. */
  forget(id: string): void {
    this.#revocations += 1;
    for (const [hash, known] of this.#known) if (known.id === id) this.#known.delete(hash);
  }

  /** Who the key of the request acts as. @throws UnauthorizedException for an invalid key, the same one for every cause */
  async identify(request: Request, { fresh }: IdentityDemand): Promise<Principal | undefined> {
    const text = request.headers[header];
    if (typeof text !== 'string') return undefined;
    const id = idOfApiKey(this.#prefix, text);
    if (id === undefined) throw invalidKey();
    const hash = hashApiKey(text);
    const now = Date.now();
    const known = fresh || !reads.has(request.method) ? undefined : this.#known.get(hash);
    const found = known && now < known.until ? known : await this.#lookUp(id, hash, now);
    if (now >= found.expiresAt) throw invalidKey();
    this.#uses.add(id, now);
    return found.principal;
  }

  async #lookUp(id: string, hash: string, now: number): Promise<Known> {
    const before = this.#revocations;
    const stored = await this.#store.find(id);
    if (!stored || !isSame(hash, stored.hash)) {
      this.#known.delete(hash);
      throw invalidKey();
    }
    const { owner, scopes, expiresAt } = stored;
    const principal: Principal = {
      userId: owner.userId,
      ...(owner.tenantId !== undefined && { tenantId: owner.tenantId }),
      roles: new Set(owner.roles),
      scopes: new Set(scopes),
      via: 'key',
    };
    const known = {
      id,
      principal,
      expiresAt: expiresAt?.getTime() ?? Number.POSITIVE_INFINITY,
      until: now + this.#cacheMs,
    };
    // One that was read before it was revoked is good for this request and no other.
    if (this.#revocations !== before) return known;
    const [oldest] = this.#known.size >= mostKnown ? this.#known.keys() : [];
    if (oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(hash, known);
    return known;
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function invalidKey(): UnauthorizedException {
  return new UnauthorizedException('The API key is invalid, has expired or was revoked', undefined, {
    headers: { 'WWW-Authenticate': 'ApiKey error="invalid_key"' },
  });
}
